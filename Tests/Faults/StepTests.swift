// SPDX-License-Identifier: Apache-2.0

import Courier
import FleetSupport
import Testing

extension Storage {
    @Suite struct Steps {
        @Test func `a worker dies at every step of a request and of its receipt`() async throws {
            try await Scenario.run("steps", quick: 1, full: 25, plan: Scenario.Plan(hasReceipts: true)) { scenario in
                for _ in scenario.rounds() { try await dieAtEachStep(scenario) }
            }
        }

        /// Kills one worker per step, each with its own request; a last worker takes over their sends.
        private func dieAtEachStep(_ scenario: Scenario) async throws {
            let steps = Step.allCases.filter { $0 != .sweepClaimed }
            let cells = try await scenario.makeCells(steps.count)
            var doomed: [Worker] = []
            for (cell, step) in zip(cells, steps) {
                doomed.append(try await cell.startJoining(["COURIER_CRASH_AT": step.rawValue]))
            }
            for worker in doomed { try await worker.waitForLog("kafka.assigned") }
            let requests = scenario.makeRequests(cells.count)
            try await scenario.send(requests, to: cells)
            for (index, step) in steps.enumerated() where step.rawValue.hasPrefix("receipts.") {
                try await cells[index].sendReceipt(of: requests[index])
            }
            for (worker, step) in zip(doomed, steps) { try await expectDeath(of: worker, at: step, scenario) }
            let sweeper = try await cells[0].startJoining(["COURIER_CRASH_AT": Step.sweepClaimed.rawValue])
            try await expectDeath(of: sweeper, at: .sweepClaimed, scenario)
            try await scenario.restart(cells)
        }

        private func expectDeath(of worker: Worker, at step: Step, _ scenario: Scenario) async throws {
            #expect(try await worker.program.exit() == .signal(9), "\(step) is not taken")
            scenario.countFaults()
        }
    }
}
