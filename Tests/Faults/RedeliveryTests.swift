// SPDX-License-Identifier: Apache-2.0

import FleetSupport
import TestSupport
import Testing

extension Campaign {
    @Suite struct Redelivery {
        @Test func `every request comes up to five times, in any order, while workers come and go`() async throws {
            // No worker dies here, so leases may be as long as they are in production, and no call is cut short.
            let plan = Scenario.Plan(
                partitions: 6,
                lease: .seconds(30),
                callDeadline: .seconds(10),
                quietTime: .seconds(Campaign.isFull ? 1800 : 120)
            )
            try await Scenario.run("redelivery", quick: 2000, full: 100_000, plan: plan) { scenario in
                for _ in 0..<3 { try await scenario.startWorker(waiting: false) }
                let requests = scenario.makeRequests(scenario.size)
                let records = scenario.withDice { dice in
                    requests.flatMap { request in
                        [TestRequest](repeating: request, count: 1 + dice.below(5))
                    }.shuffled(using: &dice)
                }
                scenario.note("records", Double(records.count))
                let parts = 8
                for part in 0..<parts {
                    let range = records.count * part / parts..<records.count * (part + 1) / parts
                    try await scenario.send(Array(records[range]))
                    try await scenario.waitForCalls(1)
                    guard part % 2 == 1 else { continue }
                    let running = scenario.fleet.workers.filter(\.program.isRunning)
                    try await scenario.startWorker(waiting: false)
                    try await scenario.withDice { $0.pick(running) }.stop()
                    scenario.countFaults()
                }
            }
        }
    }
}
