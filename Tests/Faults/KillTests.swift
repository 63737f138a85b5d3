// SPDX-License-Identifier: Apache-2.0

import FleetSupport
import Formats
import Sandbox
import TestSupport
import TestTools
import Testing

extension Campaign {
    @Suite struct Kill {
        /// Number of consumer groups in which workers are killed concurrently.
        private static let groups = Campaign.isFull ? 6 : 4

        @Test(arguments: [false, true])
        func `workers are killed at random under load`(_ repeatsUnknown: Bool) async throws {
            let plan = Scenario.Plan(
                partitions: 6,
                repeatsUnknown: repeatsUnknown,
                turns: Self.groups,
                quietTime: .seconds(120)
            )
            let (name, full) = repeatsUnknown ? ("kill_resend_once", 300) : ("kill", 700)
            try await Scenario.run(name, quick: repeatsUnknown ? 4 : 8, full: full, plan: plan) { scenario in
                // Slow calls are likely to be in flight when their worker dies.
                scenario.fleet.sandbox.add(.delay(.milliseconds(200)), times: -1)
                let cells = try await scenario.makeCells(Self.groups, partitions: 4)
                try await scenario.inParallel(cells) { cell in
                    var workers = [try await cell.startWorker(), try await cell.startWorker()]
                    while scenario.takeTurn() { try await kill(in: cell, &workers) }
                }
            }
        }

        /// Sends requests to a group, kills one of its workers and starts another one.
        private func kill(in cell: Cell, _ workers: inout [Worker]) async throws {
            let scenario = cell.scenario
            let calls = scenario.fleet.sent.count
            let requests = scenario.makeRequests(40)
            try await cell.send(requests)
            // After some kills the group has not yet reassigned all partitions, so this wait may time out.
            try? await scenario.waitForCall(to: requests, after: calls, within: .seconds(8))
            // The kill must hit any point of the work, which no signal marks.
            try await Task.sleep(for: scenario.randomTime(below: .milliseconds(400)))
            let victim = scenario.withDice { $0.below(workers.count) }
            try await workers.remove(at: victim).crash()
            scenario.countFaults()
            workers.append(try await startAgain(in: cell))
        }

        /// Retries to start a worker, as a supervisor does, since a busy machine may delay its database connection.
        private func startAgain(in cell: Cell) async throws -> Worker {
            for _ in 0..<5 {
                do {
                    return try await cell.startJoining()
                } catch is Worker.Ended {
                    continue
                }
            }
            return try await cell.startJoining()
        }
    }
}
