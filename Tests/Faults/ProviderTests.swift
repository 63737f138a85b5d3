// SPDX-License-Identifier: Apache-2.0

import FleetSupport
import Sandbox
import TestSupport
import TestTools
import Testing

extension Calls {
    @Suite struct ProviderFaults {
        private static let down = Fault.status(503, code: nil, retryAfter: nil)

        /// Checks for about one call per request, and for sends within seconds of the provider's recovery.
        @Test func `the provider answers 503 for a while under load`() async throws {
            // Delayed sends are all called at once, so calls get production deadlines, or some would end as unknown.
            let plan = Scenario.Plan(
                partitions: 6,
                lease: .seconds(30),
                callDeadline: .seconds(10),
                quietTime: .seconds(120)
            )
            try await Scenario.run("provider_503", quick: 5, full: 60, plan: plan) { scenario in
                for _ in 0..<2 { try await scenario.startWorker() }
                scenario.fleet.sandbox.add(Self.down, times: -1)
                let clock = ContinuousClock()
                let start = clock.now
                for tick in 0..<scenario.size * 10 {
                    try await scenario.send(scenario.makeRequests(20))
                    // Keeps the load at 200 requests a second, however long publishing takes.
                    try await clock.sleep(until: start + .milliseconds(100 * (tick + 1)))
                }
                let requests = scenario.requests
                let calls = scenario.fleet.sent.count
                scenario.countFaults(calls)
                scenario.note("calls_per_request", Double(calls) / Double(requests.count))
                #expect(Double(calls) <= 1.1 * Double(requests.count))

                // The circuit stays open for 4 s at most.
                scenario.fleet.sandbox.clearFaults()
                try await scenario.noteRecovery(within: .seconds(5))
            }
        }

        @Test func `the provider says 429 and when to come again`() async throws {
            let throttled = Fault.status(429, code: 20429, retryAfter: 1)
            let plan = Scenario.Plan(lease: .seconds(30), callDeadline: .seconds(10), quietTime: .seconds(120))
            try await Scenario.run("provider_429", quick: 200, full: 2000, plan: plan) { scenario in
                for _ in 0..<2 { try await scenario.startWorker() }
                let requests = scenario.makeRequests(scenario.size)
                for request in requests.prefix(scenario.size / 2) {
                    scenario.fleet.sandbox.add(throttled, to: request.phoneNumber)
                    scenario.countFaults()
                }
                try await scenario.send(requests)
                let events = try await scenario.fleet.events(of: requests.map(\.id), within: .seconds(60))
                #expect(events.allSatisfy { $0.body.status == "sent" })
                scenario.note("calls_per_request", Double(scenario.fleet.sent.count) / Double(requests.count))
            }
        }

        /// Checks that calls end by their deadline, and that the excess of an answer is discarded.
        ///
        /// Deadlines are far shorter than leases, so a call that does not end would lose its lease.
        @Test func `the provider never answers, drips, or never stops answering`() async throws {
            // Even a busy machine reads the start of an answer within this deadline.
            let plan = Scenario.Plan(lease: .seconds(30), callDeadline: .seconds(10), quietTime: .seconds(120))
            try await Scenario.run("provider_hangs", quick: 120, full: 3000, plan: plan) { scenario in
                let worker = try await scenario.startWorker()
                try await hang(scenario, 30)
                let before = try #require(worker.program.figures)
                for _ in 0..<max(1, scenario.size / 120) { try await hang(scenario, 120) }
                let after = try #require(worker.program.figures)
                scenario.note("memory_before_mib", before.memory)
                scenario.note("memory_after_mib", after.memory)
                #expect(after.memory < before.memory * 1.1 + 16)
                let longest = try await scenario.longestCall()
                scenario.note("longest_call_seconds", longest)
                #expect(longest < plan.lease / .seconds(1) / 2)
            }
        }

        @Test(arguments: [false, true])
        func `connections are cut before and after the provider has taken a message`(
            _ repeatsUnknown: Bool
        )
            async throws
        {
            // The deadline is long enough that no call ends before the provider receives it.
            let plan = Scenario.Plan(
                partitions: 6,
                lease: .seconds(30),
                callDeadline: .seconds(10),
                repeatsUnknown: repeatsUnknown
            )
            let name = repeatsUnknown ? "provider_cut_resend_once" : "provider_cut"
            try await Scenario.run(name, quick: 300, full: 3000, plan: plan) { scenario in
                for _ in 0..<2 { try await scenario.startWorker() }
                let requests = scenario.makeRequests(scenario.size)
                var unseen = 0
                for request in requests {
                    let cut = scenario.withDice { dice -> Fault.Cut? in
                        dice.chance(60) ? (dice.chance(50) ? .before : .after) : nil
                    }
                    guard let cut else { continue }
                    scenario.fleet.sandbox.add(.cut(cut), to: request.phoneNumber)
                    scenario.countFaults()
                    if cut == .before { unseen += 1 }
                }
                try await scenario.send(requests)
                let events = try await scenario.fleet.events(of: requests.map(\.id), within: .seconds(60))
                #expect(events.count { $0.body.status == "unknown" } <= scenario.faults)
                let attempts = try await scenario.fleet.database.count("SELECT sum(attempts) FROM courier.send")
                scenario.note("attempts", Double(attempts))
                // A call that is cut before its request is complete is not in the provider's record.
                #expect(Int(attempts) == scenario.fleet.sent.count + unseen, "calls are attempts")
                if !repeatsUnknown { #expect(Int(attempts) == requests.count) }
            }
        }

        /// Sends requests whose calls all hang, and waits until all have ended and the circuit is closed again.
        ///
        /// Calls before the first timeout hang concurrently; later calls are single probes of the circuit breaker.
        private func hang(_ scenario: Scenario, _ count: Int) async throws {
            let requests = scenario.makeRequests(count)
            let faults: [Fault] = [.silence, .drip(.milliseconds(100)), .endless]
            for (index, request) in requests.enumerated() {
                scenario.fleet.sandbox.add(faults[index % faults.count], to: request.phoneNumber)
                scenario.countFaults()
            }
            try await scenario.send(requests)
            let events = try await scenario.fleet.events(of: requests.map(\.id), within: .seconds(240))
            // An endless body after a success status still counts as sent: the provider has the message.
            let silent = (count + 2) / faults.count
            #expect(events.count { $0.answer == Answer("unknown", "timeout") } == silent)
            #expect(events.count { $0.body.status == "sent" } == count - silent)
            let probe = scenario.makeRequests(1)
            try await scenario.send(probe)
            #expect(try await scenario.fleet.sentEvents(of: probe) == 1)
        }
    }
}

extension Scenario {
    /// The longest time, in seconds, from a send's mark to the record of its outcome.
    fileprivate func longestCall() async throws -> Double {
        let milliseconds = try await fleet.database.count(
            """
            SELECT coalesce(max(extract(epoch FROM ended - at) * 1000)::bigint, 0)
            FROM (
                SELECT old_state, new_state, at, lead(at) OVER (PARTITION BY send ORDER BY number) AS ended
                FROM courier_test.send_change
                WHERE new_state <> 'dispatching' OR old_state <> 'dispatching'
            ) change
            WHERE new_state = 'dispatching'
            """
        )
        return Double(milliseconds) / 1000
    }
}
