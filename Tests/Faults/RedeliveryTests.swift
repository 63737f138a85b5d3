// SPDX-License-Identifier: Apache-2.0

import FleetSupport
import TestTools
import Testing

extension Campaign {
    @Suite struct Redelivery {
        @Test func `every request comes up to five times, in any order, while workers come and go`() async throws {
            // No worker dies here, so leases have production lengths and no call is cut short.
            let plan = Scenario.Plan(
                partitions: 12,
                lease: .seconds(30),
                callDeadline: .seconds(10),
                quietTime: .seconds(Campaign.isFull ? 1800 : 120)
            )
            try await Scenario.run("redelivery", quick: 2000, full: 100_000, plan: plan) { scenario in
                for _ in 0..<3 { try await scenario.startWorker(waiting: false) }
                // The mock cluster keeps about 5 MiB per partition, so each portion is processed before the next one.
                let portions = Campaign.isFull ? 40 : 8
                var (records, repeats) = (0, [TestRequest]())
                for portion in scenario.rounds(portions, atLeast: 2) {
                    let requests = scenario.makeRequests(scenario.size / portions)
                    let (due, later) = scenario.withDice { dice in
                        deal(requests, after: repeats, &dice)
                    }
                    repeats = later
                    records += due.count
                    try await scenario.send(due)
                    if portion % 2 == 1 {
                        let running = scenario.fleet.workers.filter(\.program.isRunning)
                        try await scenario.startWorker(waiting: false)
                        try await scenario.withDice { $0.pick(running) }.stop()
                        scenario.countFaults()
                    }
                    _ = try await scenario.fleet.events(of: requests.map(\.id), within: .seconds(120))
                }
                try await scenario.send(repeats)
                scenario.note("records", Double(records + repeats.count))
            }
        }

        /// Returns the requests to publish now, shuffled, and those to repeat later, each up to five times.
        private func deal(
            _ requests: [TestRequest],
            after repeats: [TestRequest],
            _ dice: inout TestSeed
        ) -> (due: [TestRequest], later: [TestRequest]) {
            var (due, later) = (requests + repeats, [TestRequest]())
            for request in requests {
                for _ in 0..<dice.below(5) {
                    if dice.chance(50) { due.append(request) } else { later.append(request) }
                }
            }
            return (due.shuffled(using: &dice), later)
        }
    }
}
