// SPDX-License-Identifier: Apache-2.0

import FleetSupport
import Sandbox
import TestSupport
import Testing

extension Campaign {
    @Suite struct ProviderFaults {
        private static let down = Fault.status(503, code: nil, retryAfter: nil)

        /// The provider is asked about once for each request, and again within seconds once it is well.
        @Test func `the provider answers 503 for a while under load`() async throws {
            let plan = Scenario.Plan(partitions: 6)
            try await Scenario.run("provider_503", quick: 10, full: 60, plan: plan) { scenario in
                for _ in 0..<2 { try await scenario.startWorker() }
                scenario.fleet.sandbox.add(Self.down, times: -1)
                let clock = ContinuousClock()
                let start = clock.now
                for tick in 0..<scenario.size * 10 {
                    try await scenario.send(scenario.makeRequests(20))
                    // The pace of the load, 200 requests a second, however long sending them took.
                    try await clock.sleep(until: start + .milliseconds(100 * (tick + 1)))
                }
                let requests = scenario.requests
                let calls = scenario.fleet.sent.count
                scenario.countFaults(calls)
                scenario.note("calls_per_request", Double(calls) / Double(requests.count))
                #expect(Double(calls) <= 1.1 * Double(requests.count))

                scenario.fleet.sandbox.clearFaults()
                try await scenario.noteRecovery(within: .seconds(5))
            }
        }

        @Test func `the provider says 429 and when to come again`() async throws {
            let throttled = Fault.status(429, code: 20429, retryAfter: 1)
            try await Scenario.run("provider_429", quick: 200, full: 2000) { scenario in
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

        /// Calls end when they have to, and what an answer holds beyond its limit is not kept.
        @Test func `the provider never answers, drips, or never stops answering`() async throws {
            let plan = Scenario.Plan(quietTime: .seconds(120))
            try await Scenario.run("provider_hangs", quick: 240, full: 3000, plan: plan) { scenario in
                let worker = try await scenario.startWorker()
                _ = try await hang(scenario, 30)
                let before = try #require(worker.program.figures)
                var longest = 0.0
                for _ in 0..<max(1, scenario.size / 120) {
                    longest = max(longest, try await hang(scenario, 120))
                }
                let after = try #require(worker.program.figures)
                scenario.note("longest_round_seconds", longest)
                scenario.note("memory_before_mib", before.memory)
                scenario.note("memory_after_mib", after.memory)
                // A round is read, claimed, called, recorded and published: that takes its time beside the calls.
                #expect(longest < plan.callDeadline / .seconds(1) + 3)
                #expect(after.memory < before.memory * 1.1 + 16)
            }
        }

        @Test(arguments: [false, true])
        func `connections are cut before and after the provider has taken a message`(
            _ repeatsUnknown: Bool
        )
            async throws
        {
            let plan = Scenario.Plan(partitions: 6, repeatsUnknown: repeatsUnknown)
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
                // A call that is cut before it is taken is not in the provider's record.
                #expect(Int(attempts) == scenario.fleet.sent.count + unseen, "calls are attempts")
                if !repeatsUnknown { #expect(Int(attempts) == requests.count) }
            }
        }

        /// Sends requests whose calls all hang, and says how many seconds it took to be through with them.
        private func hang(_ scenario: Scenario, _ count: Int) async throws -> Double {
            let requests = scenario.makeRequests(count)
            let faults: [Fault] = [.silence, .drip(.milliseconds(100)), .endless]
            for (index, request) in requests.enumerated() {
                scenario.fleet.sandbox.add(faults[index % faults.count], to: request.phoneNumber)
                scenario.countFaults()
            }
            let start = ContinuousClock.now
            try await scenario.send(requests)
            let events = try await scenario.fleet.events(of: requests.map(\.id), within: .seconds(30))
            #expect(events.allSatisfy { $0.answer == Answer("unknown", "timeout") || $0.body.status == "unknown" })
            return (ContinuousClock.now - start) / .seconds(1)
        }
    }
}

extension Scenario {
    /// Sends one more request and notes how long it takes until its message is sent, now that a fault is over.
    func noteRecovery(within limit: Duration) async throws {
        let start = ContinuousClock.now
        while true {
            let request = makeRequests(1)
            try await send(request)
            let events = try await fleet.events(of: request.map(\.id), within: .seconds(30))
            if events.contains(where: { $0.body.status == "sent" }) { break }
            try #require(ContinuousClock.now - start < .seconds(60), "nothing is sent after the fault")
        }
        let time = ContinuousClock.now - start
        note("recovery_seconds", time / .seconds(1))
        #expect(time < limit)
    }
}
