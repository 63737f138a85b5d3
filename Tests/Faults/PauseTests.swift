// SPDX-License-Identifier: Apache-2.0

import FleetSupport
import Glibc
import Sandbox
import TestSupport
import Testing

extension Drill {
    @Suite struct Pause {
        @Test func `workers stand still for longer than their claims last, and go on`() async throws {
            let plan = Scenario.Plan(partitions: 6, lease: .seconds(4), callDeadline: .milliseconds(1500))
            try await Scenario.run("pause", quick: 3, full: 100, plan: plan) { scenario in
                scenario.fleet.sandbox.add(.delay(.milliseconds(500)), times: -1)
                for _ in 0..<3 { try await scenario.startWorker(waiting: false) }
                for _ in 0..<scenario.size {
                    try await scenario.send(scenario.makeRequests(60))
                    try await scenario.waitForCalls(1)
                    // Within the time of a call: the worker stops anywhere in one.
                    try await Task.sleep(for: scenario.randomTime(below: .milliseconds(450)))
                    let running = scenario.fleet.workers.filter(\.program.isRunning)
                    let paused = scenario.withDice { $0.pick(running) }
                    paused.program.send(SIGSTOP)
                    scenario.countFaults()
                    try await scenario.send(scenario.makeRequests(20))
                    // The worker comes back when its claims have ended and others have had the time to take them over.
                    try await Task.sleep(for: plan.lease + .seconds(5))
                    paused.program.send(SIGCONT)
                }
            }
        }
    }
}
