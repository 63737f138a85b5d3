// SPDX-License-Identifier: Apache-2.0

import Administration
import FleetSupport
import KafkaClient
import Testing

extension Endurance {
    @Suite struct Load {
        @Test func `while workers join, leave and come back, every request gets one decision and one message`()
            async throws
        {
            try await TestFleet.with(partitions: 3) { fleet in
                let first = try await fleet.startWorker()
                _ = try await fleet.startWorker()
                let requests = Numbers.take(600).map { TestRequest(phoneNumber: $0) }
                // Every tenth person requests twice.
                let repeats = stride(from: 0, to: 600, by: 10).map {
                    TestRequest(phoneNumber: requests[$0].phoneNumber)
                }

                try await fleet.send(Array(requests[..<200]) + repeats[..<20])
                _ = try await fleet.events(of: requests[..<50].map(\.id))
                let third = try await fleet.startWorker(waiting: false)
                try await fleet.send(Array(requests[200..<400]) + repeats[20..<40])
                try await third.waitForLog("kafka.assigned")
                try await first.stop()
                try await fleet.send(Array(requests[400...]) + repeats[40...])
                _ = try await fleet.startWorker(waiting: false)

                _ = try await fleet.events(of: requests.map(\.id), within: .seconds(90))
                _ = try await fleet.events(of: repeats.map(\.id), within: .seconds(60))
                let events = try await fleet.allEvents(after: .seconds(2))
                try expectOneDecisionEach(events, requests, repeats)
                try await expectCodes(events, requests + repeats, fleet)
            }
        }

        private func expectOneDecisionEach(
            _ events: [Event],
            _ requests: [TestRequest],
            _ repeats: [TestRequest]
        ) throws {
            // A repeat that came before the first message had left gets that message's outcome, too.
            let pending = Set(events.filter { $0.answer.reason == "send_pending" }.map(\.body.requestId))
            let unique = Dictionary(events.map { ($0.id, $0) }) { first, _ in first }.values
                .filter { $0.answer.status == "suppressed" || !pending.contains($0.body.requestId) }
            #expect(unique.count == requests.count + repeats.count)
            let byRequest = Dictionary(grouping: unique, by: \.body.requestId)
            for (request, answers) in byRequest { #expect(answers.count == 1, "\(request): \(answers.map(\.answer))") }
            // Of two requests for one person only the first is sent, whichever that is.
            let sent = unique.filter { $0.answer == Answer("sent") }
            let suppressed = unique.filter { $0.answer.status == "suppressed" }
            let reasons = Set(suppressed.map(\.answer.reason))
            #expect(reasons.isSubset(of: ["resend_window", "send_pending"]))
            #expect(sent.count == requests.count)
            #expect(suppressed.count == repeats.count)
            expectOrder(of: events)
        }

        /// Expects the events of each verification in sequence without gaps, not counting redeliveries.
        private func expectOrder(of events: [Event]) {
            for (id, events) in Dictionary(grouping: events, by: \.body.verificationId) {
                var seen: Set<String> = []
                let sequence = events.sorted { $0.record.offset < $1.record.offset }
                    .filter { seen.insert($0.id).inserted }.map(\.body.sequence)
                #expect(sequence == Array(1...sequence.count), "\(id ?? "")")
            }
        }

        private func expectCodes(_ events: [Event], _ requests: [TestRequest], _ fleet: TestFleet) async throws {
            let messages = fleet.messages
            #expect(fleet.sent.count == Set(requests.map(\.phoneNumber)).count)
            let sent = Dictionary(
                events.filter { $0.answer == Answer("sent") }.map { ($0.body.verificationId, $0) }
            ) { first, _ in first }
            let numbers = Dictionary(requests.map { ($0.id, $0.phoneNumber) }) { first, _ in first }
            for event in sent.values {
                let number = try #require(numbers[event.body.requestId])
                #expect(messages[number]?.count == 1)
                let code = try #require(messages[number]?.first?.code)
                #expect(try await fleet.check(code, event) == .approved)
            }
        }
    }
}
