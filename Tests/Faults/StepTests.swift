// SPDX-License-Identifier: Apache-2.0

import Courier
import FleetSupport
import Testing

extension Campaign {
    @Suite struct Steps {
        /// The steps of a request; those of a receipt are taken only where receipts come.
        private static let steps = Step.allCases.filter { !$0.rawValue.hasPrefix("receipts.") }

        @Test func `a worker dies at every step of a request`() async throws {
            try await Scenario.run("steps", quick: 1, full: 25) { scenario in
                for _ in 0..<scenario.size { try await dieAtEachStep(scenario) }
            }
        }

        /// One worker a step, each with a request of its own; what they leave, the one that sweeps finds overdue.
        private func dieAtEachStep(_ scenario: Scenario) async throws {
            let cells = try await scenario.makeCells(Self.steps.count)
            var doomed: [Worker] = []
            for (cell, step) in zip(cells, Self.steps) {
                doomed.append(try await cell.startJoining(["COURIER_CRASH_AT": step.rawValue]))
            }
            for worker in doomed { try await worker.waitForLog("kafka.assigned") }
            for cell in cells { try await cell.send(scenario.makeRequests(1)) }
            for (worker, step) in zip(doomed, Self.steps) {
                #expect(try await worker.program.exit() == .signal(9), "\(step) is not taken")
                scenario.countFaults()
            }
            try await scenario.restart(cells)
        }
    }
}
