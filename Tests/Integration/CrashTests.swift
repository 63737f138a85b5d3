// SPDX-License-Identifier: Apache-2.0

import Administration
import FleetSupport
import Formats
import Sandbox
import TestSupport
import TestTools
import Testing

extension Endurance {
    @Suite struct Crash {
        @Test func `what a killed worker leaves is finished by another, and nothing is lost or sent twice`()
            async throws
        {
            try await TestFleet.with(partitions: 4) { fleet in
                fleet.sandbox.add(.delay(.milliseconds(400)), times: -1)
                let settings = ["WORKER_MAX_IN_FLIGHT": "40", "WORKER_BATCH_SIZE": "20"]
                let doomed = try await fleet.startWorker(settings)
                let survivor = try await fleet.startWorker(settings)
                try await eventually("both have partitions") {
                    doomed.logged.contains("kafka.revoked") && survivor.logged.contains("kafka.assigned")
                }
                let requests = Numbers.take(300).map { TestRequest(phoneNumber: $0) }
                try await fleet.send(requests)
                try await eventually("messages are under way") { fleet.sent.count >= 60 }
                try await doomed.crash()

                let events = try await fleet.events(of: requests.map(\.id), within: .seconds(60))
                let unique = Dictionary(events.map { ($0.id, $0) }) { first, _ in first }
                let byRequest = Dictionary(grouping: unique.values, by: \.body.requestId)
                #expect(byRequest.count == requests.count)
                let messages = fleet.messages
                for request in requests {
                    let answers = byRequest[request.id, default: []]
                    let event = try #require(answers.first)
                    #expect(answers.count == 1, "\(answers.map(\.answer))")
                    let count = messages[request.phoneNumber]?.count ?? 0
                    #expect(count <= 1)
                    #expect([Answer("sent"), Answer("unknown", "worker_lost")].contains(event.answer))
                    if event.answer == Answer("sent") { #expect(count == 1) }
                    // The code of a delivered message is valid, whatever its recorded outcome.
                    if let code = messages[request.phoneNumber]?.first?.code {
                        #expect(try await fleet.check(code, event) == .approved)
                    }
                }
                let unknown = unique.values.count { $0.body.status == "unknown" }
                #expect(unknown > 0, "the worker died with calls under way")
                #expect(unknown <= 40, "no more than the killed worker held")
            }
        }
    }
}
