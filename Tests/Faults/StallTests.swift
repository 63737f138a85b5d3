// SPDX-License-Identifier: Apache-2.0

import Courier
import FleetSupport
import Testing

extension Standstill {
    @Suite struct Stalls {
        /// The exit code of a worker that its watchdog ended.
        private static let stalled: Int32 = 70

        /// A stalled worker keeps its partitions and claims, so its watchdog must end it.
        @Test func `a worker whose stage stands still ends by its watchdog, whichever stage it is`() async throws {
            let plan = Scenario.Plan(hasReceipts: true, quietTime: .seconds(120))
            try await Scenario.run("stalls", quick: 1, full: 5, plan: plan) { scenario in
                for _ in scenario.rounds() { try await stallAtEachStep(scenario) }
            }
        }

        /// Stalls one worker per step, each with its own requests.
        ///
        /// The sweep's step is left out, since nothing is overdue until a worker has ended.
        private func stallAtEachStep(_ scenario: Scenario) async throws {
            let steps = Step.allCases.filter { $0 != .sweepClaimed }
            let cells = try await scenario.makeCells(steps.count)
            var workers: [Worker] = []
            for (cell, step) in zip(cells, steps) {
                workers.append(try await cell.startJoining(["COURIER_STALL_AT": step.rawValue]))
            }
            for worker in workers { try await worker.waitForLog("kafka.assigned") }
            let requests = scenario.makeRequests(cells.count)
            try await scenario.send(requests, to: cells)
            for (index, step) in steps.enumerated() where step.rawValue.hasPrefix("receipts.") {
                try await cells[index].sendReceipt(of: requests[index])
            }
            // The watchdog compares a stalled stage with active ones, so requests continue beyond the stall limit.
            for _ in 0..<30 where workers.contains(where: \.program.isRunning) {
                // Interval of the requests.
                try await Task.sleep(for: .seconds(2))
                try await scenario.send(scenario.makeRequests(cells.count), to: cells)
            }
            for (worker, step) in zip(workers, steps) { await expectEnd(of: worker, at: step, scenario) }
            try await scenario.restart(cells)
        }

        /// Expects the worker's exit after 45 watchdog checks, a second apart, without progress.
        private func expectEnd(of worker: Worker, at step: Step, _ scenario: Scenario) async {
            do {
                #expect(try await worker.program.exit(within: .seconds(30)) == .code(Self.stalled), "\(step)")
                #expect(worker.logged.contains("worker.stalled"), "\(step)")
                scenario.countFaults()
            } catch {
                Issue.record(error, "\(step): the worker goes on standing still")
                try? await worker.crash()
            }
        }
    }
}
