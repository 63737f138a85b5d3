// SPDX-License-Identifier: Apache-2.0

import FleetSupport
import Glibc
import Sandbox
import TestSupport
import TestTools
import Testing

extension Drill {
    @Suite struct Pause {
        @Test func `workers stand still for longer than their claims last, and go on`() async throws {
            let groups = Campaign.isFull ? 5 : 3
            let plan = Scenario.Plan(
                lease: .seconds(4),
                callDeadline: .milliseconds(1500),
                turns: groups,
                quietTime: .seconds(120)
            )
            try await Scenario.run("pause", quick: 6, full: 100, plan: plan) { scenario in
                scenario.fleet.sandbox.add(.delay(.milliseconds(500)), times: -1)
                let cells = try await scenario.makeCells(groups, partitions: 4)
                try await scenario.inParallel(cells) { cell in
                    let workers = [try await cell.startWorker(), try await cell.startWorker()]
                    while scenario.takeTurn() { try await pause(one: workers, of: cell) }
                }
            }
        }

        private func pause(one workers: [Worker], of cell: Cell) async throws {
            let scenario = cell.scenario
            let calls = scenario.fleet.sent.count
            let requests = scenario.makeRequests(60)
            try await cell.send(requests)
            try await scenario.waitForCall(to: requests, after: calls)
            // The pause must hit any point of the work, which no signal marks.
            try await Task.sleep(for: scenario.randomTime(below: .milliseconds(450)))
            let paused = scenario.withDice { $0.pick(workers) }
            paused.program.send(SIGSTOP)
            scenario.countFaults()
            try await cell.send(scenario.makeRequests(20))
            // The pause is the fault itself: longer than the lease, so that other workers claim the sends.
            try await Task.sleep(for: scenario.plan.lease + .seconds(5))
            paused.program.send(SIGCONT)
        }
    }
}
