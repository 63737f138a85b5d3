// SPDX-License-Identifier: Apache-2.0

import FleetSupport
import Sandbox
import TestSupport
import Testing

extension Campaign {
    @Suite struct Kill {
        @Test(arguments: [false, true])
        func `workers are killed at random under load`(_ repeatsUnknown: Bool) async throws {
            let plan = Scenario.Plan(partitions: 6, repeatsUnknown: repeatsUnknown)
            let name = repeatsUnknown ? "kill_resend_once" : "kill"
            try await Scenario.run(name, quick: repeatsUnknown ? 6 : 20, full: 1000, plan: plan) { scenario in
                // Calls that take a while are likely to be under way when their worker dies.
                scenario.fleet.sandbox.add(.delay(.milliseconds(200)), times: -1)
                for _ in 0..<3 { try await scenario.startWorker(waiting: false) }
                try await scenario.send(scenario.makeRequests(10))
                try await scenario.waitForCalls(1)
                for _ in 0..<scenario.size {
                    try await scenario.send(scenario.makeRequests(40))
                    // After most kills the group has not yet given all partitions to somebody else.
                    try? await scenario.waitForCalls(1, within: .seconds(2))
                    // Twice the time of a call: the worker dies anywhere before, in or after one.
                    try await Task.sleep(for: scenario.randomTime(below: .milliseconds(400)))
                    let running = scenario.fleet.workers.filter(\.program.isRunning)
                    try await scenario.withDice { $0.pick(running) }.crash()
                    scenario.countFaults()
                    try await scenario.startWorker(waiting: false)
                }
            }
        }
    }
}
