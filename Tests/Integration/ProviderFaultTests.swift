// SPDX-License-Identifier: Apache-2.0

import Administration
import FleetSupport
import Sandbox
import Testing

extension Scenarios {
    @Suite struct ProviderFaults {
        /// A provider's behaviour, and the expected result.
        private struct Case {
            let name: String
            let faults: [Fault]
            let answer: Answer
            let errorCode: String?

            /// Requests that the provider receives, and messages that it accepts.
            let calls: Int
            let messages: Int
        }

        private static let cases = [
            Case(
                name: "throttled once",
                faults: [.status(429, code: 20429, retryAfter: nil)],
                answer: Answer("sent"),
                errorCode: nil,
                calls: 2,
                messages: 1
            ),
            Case(
                name: "throttled until no attempt is left",
                faults: [.error(code: 20429), .error(code: 20429), .error(code: 20429)],
                answer: Answer("failed", "provider_unavailable"),
                errorCode: "20429",
                calls: 3,
                messages: 0
            ),
            Case(
                name: "an internal error, after which nobody knows",
                faults: [.status(503, code: nil, retryAfter: nil)],
                answer: Answer("unknown", "timeout"),
                errorCode: "20503",
                calls: 1,
                messages: 0
            ),
            Case(
                name: "cut after the message was taken",
                faults: [.cut(.after)],
                answer: Answer("unknown", "timeout"),
                errorCode: nil,
                calls: 1,
                messages: 1
            ),
            Case(
                name: "a refused number",
                faults: [.error(code: 21211)],
                answer: Answer("failed", "provider_refused"),
                errorCode: "21211",
                calls: 1,
                messages: 0
            ),
            Case(
                name: "suspected fraud",
                faults: [.error(code: 30450)],
                answer: Answer("failed", "fraud_blocked_by_provider"),
                errorCode: "30450",
                calls: 1,
                messages: 0
            ),
            Case(
                name: "silence",
                faults: [.silence],
                answer: Answer("unknown", "timeout"),
                errorCode: nil,
                calls: 1,
                messages: 1
            ),
        ]

        @Test func `each way in which a provider fails has its own event, and nothing is sent twice`() async throws {
            try await TestFleet.with { fleet in
                _ = try await fleet.startWorker()
                let requests = Numbers.take(Self.cases.count).map { TestRequest(phoneNumber: $0) }
                for (request, wanted) in zip(requests, Self.cases) {
                    for fault in wanted.faults { fleet.sandbox.add(fault, to: request.phoneNumber) }
                }
                // Each refusal opens the circuit for a while, and then single messages probe the provider.
                try await fleet.send(requests)
                _ = try await fleet.events(of: requests.map(\.id), within: .seconds(90))

                let events = try await fleet.allEvents(after: .seconds(3)).filter { !$0.isPending }
                #expect(events.count == requests.count)
                for (request, wanted) in zip(requests, Self.cases) {
                    let event = try #require(events.first { $0.body.requestId == request.id })
                    #expect(event.answer == wanted.answer, "\(wanted.name)")
                    if let code = wanted.errorCode { #expect(event.body.send?.errorCode == code, "\(wanted.name)") }
                    #expect(fleet.sent.count { $0.to == request.phoneNumber } == wanted.calls, "\(wanted.name)")
                    let messages = fleet.messages[request.phoneNumber] ?? []
                    #expect(messages.count == wanted.messages, "\(wanted.name)")
                    if let code = messages.first?.code {
                        #expect(try await fleet.check(code, event) == .approved, "\(wanted.name)")
                    }
                }
            }
        }

        @Test func `a gateway hears within seconds of a message that must wait, and the outcome follows`() async throws
        {
            try await TestFleet.with { fleet in
                _ = try await fleet.startWorker()
                let number = Numbers.one()
                let (first, again) = (TestRequest(phoneNumber: number), TestRequest(phoneNumber: number))
                fleet.sandbox.add(.status(429, code: 20429, retryAfter: 6), to: number, times: 1)
                let start = ContinuousClock.now
                try await fleet.send(first)
                let answer = try await fleet.pendingEvent(of: first)
                #expect(ContinuousClock.now - start < .seconds(5))
                #expect(answer.body.retryAfter != nil && answer.body.verificationId != nil)
                #expect(answer.body.send?.provider == "main")

                // The person asks again before the outcome is known.
                try await fleet.send(again)
                #expect(try await fleet.pendingEvent(of: again).body.retryAfter != nil)
                let outcomes = try await fleet.events(of: [first.id, again.id], within: .seconds(60))
                #expect(Set(outcomes.map(\.answer)) == [Answer("sent")])
                #expect(Set(outcomes.map(\.body.send?.id)) == [answer.body.send?.id])
            }
        }

        @Test func `a retry goes to the provider that asked for it, and not to the one that is misconfigured`()
            async throws
        {
            let policy = TestPolicy.standard.replacing("[main]", with: "[main, backup]")
            try await TestFleet.with(policy: policy) { fleet in
                try fleet.addProvider("backup")
                _ = try await fleet.startWorker()
                let request = TestRequest(phoneNumber: Numbers.take(1)[0])
                // The third call is accepted, whichever provider receives it.
                fleet.sandbox.add(.status(401, code: 20003, retryAfter: nil), to: request.phoneNumber)
                fleet.sandbox.add(.status(429, code: 20429, retryAfter: nil), to: request.phoneNumber)
                try await fleet.send([request])
                let event = try #require(try await fleet.events(of: [request.id], within: .seconds(60)).first)
                #expect(event.answer == Answer("sent"))
                #expect(event.body.send?.provider == "backup")
                #expect(fleet.sent.count { $0.to == request.phoneNumber } == 3)
            }
        }
    }
}
