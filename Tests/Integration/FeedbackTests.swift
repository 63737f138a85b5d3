// SPDX-License-Identifier: Apache-2.0

import Administration
import FleetSupport
import Formats
import Sandbox
import TestSupport
import TestTools
import Testing

extension Endurance {
    @Suite struct Feedback {
        @Test(.timeLimit(.minutes(5)))
        func `a provider learns which messages were used, each once, also after the reader was killed`() async throws {
            try await TestFleet.with { fleet in
                try fleet.configure("from: \"+15005550006\"", "from: \"+15005550006\"\n    feedback: true")
                let reader = try await fleet.startWorker()
                try await reader.waitForLog("brake.reader")
                try await use(fleet, 6, of: 9)
                try await eventually("the used messages are confirmed", within: .seconds(60)) {
                    await fleet.confirmed == 6
                }
                let survivor = try await fleet.startWorker()
                try await reader.crash()
                try await survivor.waitForLog("brake.reader", within: .seconds(30))
                try await use(fleet, 3, of: 3)
                try await eventually("those of the new reader, too", within: .seconds(60)) {
                    await fleet.confirmed == 9
                }
                #expect(await fleet.sandbox.messages().count == 12)
                let counts = survivor.lines(of: "worker.stats", as: Stats.self).map {
                    $0.feedback?.confirmed ?? 0
                }
                #expect(counts.reduce(0, +) <= 3)
                #expect(!fleet.workers.contains { $0.logged.contains("feedback.failed") })
            }
        }

        private struct Stats: Decodable {
            struct Feedback: Decodable {
                let confirmed: Int
            }
            let feedback: Feedback?
        }

        /// Sends messages, and checks the codes of some of them.
        private func use(_ fleet: TestFleet, _ used: Int, of count: Int) async throws {
            let requests = Numbers.take(count).map { TestRequest(phoneNumber: $0) }
            try await fleet.send(requests)
            let events = try await fleet.events(of: requests.map(\.id))
            for event in events.prefix(used) {
                let request = try #require(requests.first { $0.id == event.body.requestId })
                let code = try #require(fleet.messages[request.phoneNumber]?.first?.code)
                #expect(try await fleet.check(code, event) == .approved)
            }
        }
    }
}

extension TestFleet {
    /// The messages that the provider knows to have been used.
    fileprivate var confirmed: Int {
        get async { await sandbox.messages().count { $0.confirmed } }
    }
}
