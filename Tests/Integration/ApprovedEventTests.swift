// SPDX-License-Identifier: Apache-2.0

import Administration
import FleetSupport
import KafkaClient
import TestSupport
import TestTools
import Testing

extension Endurance {
    @Suite struct ApprovedEvents {
        @Test func `every approval and lock is told once, in order, also those of a time without a worker`()
            async throws
        {
            try await TestFleet.with { fleet in
                let doomed = try await fleet.startWorker(["EVENTS_APPROVED": "true"])
                let requests = Numbers.take(12).map { TestRequest(phoneNumber: $0, more: #","subject":"user-1""#) }
                try await fleet.send(requests)
                let sent = try await fleet.events(of: requests.map(\.id))
                let codes = fleet.messages
                func approve(_ events: some Sequence<Event>) async throws {
                    for event in events {
                        let request = try #require(requests.first { $0.id == event.body.requestId })
                        let code = try #require(codes[request.phoneNumber]?.first?.code)
                        #expect(try await fleet.check(code, event) == .approved)
                    }
                }
                try await approve(sent.prefix(6))
                // Some of the approvals are published, some perhaps not, and the next ones while no worker runs.
                try await doomed.crash()
                try await approve(sent[6..<11])
                let last = try #require(sent.last)
                let right = try #require(
                    codes.values.joined().first {
                        $0.to == requests.first { $0.id == last.body.requestId }?.phoneNumber
                    }?.code
                )
                for _ in 0..<6 { _ = try await fleet.check(right == "000000" ? "111111" : "000000", last) }

                _ = try await fleet.startWorker(["EVENTS_APPROVED": "true"])
                let events = try await fleet.events(of: requests.map(\.id), each: 2)
                let unique = Dictionary(events.map { ($0.id, $0) }) { first, _ in first }.values
                for (request, events) in Dictionary(grouping: unique, by: \.body.requestId) {
                    let events = events.sorted { $0.body.sequence < $1.body.sequence }
                    let end = request == last.body.requestId ? "locked" : "approved"
                    #expect(events.map(\.body.status) == ["sent", end])
                    #expect(events.map(\.body.sequence) == [1, 2])
                    let (first, second) = (try #require(events.first), try #require(events.last))
                    #expect(second.id == "\(first.body.verificationId ?? "")-2")
                    #expect(second.record.key == first.record.key)
                    #expect(second.record.text("ce_subject") == first.body.verificationId)
                    #expect(second.body.recipient?.masked == first.body.recipient?.masked)
                    #expect(second.body.recipient?.fingerprint == first.body.recipient?.fingerprint)
                    #expect(second.body.purpose == "sign_in" && second.body.tenant == "default")
                }
                let order = Dictionary(grouping: events, by: \.body.requestId).values
                #expect(order.allSatisfy { $0.first?.body.status == "sent" })
                #expect(EventContract.violations(in: events.map { $0.record.value ?? [] }) == [])
                #expect(fleet.workers.map { $0.logged.count { $0 == "events.switched" } } == [1, 0])

                let shown = try await fleet.command(
                    ["show", "--config", "courier.yaml", sent[0].body.verificationId ?? ""],
                    environment: ["POSTGRES_URL": fleet.logins.operatorURL]
                )
                #expect(shown.0.output.contains("approved, sequence 2"), "\(shown.0.output)\(shown.0.errors)")
                let tailed = try await fleet.command([
                    "events", "tail", "--config", "courier.yaml", "--from-beginning", "--until-now", "--status",
                    "locked",
                ])
                #expect(tailed.0.lines.count == 1 && tailed.0.output.contains("locked"), "\(tailed.0.output)")
            }
        }
    }
}
