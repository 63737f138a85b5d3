// SPDX-License-Identifier: Apache-2.0

import FleetSupport
import Formats
import Sandbox
import TestSupport
import Testing

extension Drill {
    @Suite struct Backlog {
        /// Checks that a backlog stays in Kafka and PostgreSQL, and that the worker's memory stays bounded.
        @Test func `a provider takes ten a second of a large backlog`() async throws {
            // The mock cluster keeps about 5 MiB per partition.
            let plan = Scenario.Plan(
                partitions: Campaign.isFull ? 128 : 6,
                lease: .seconds(10),
                callDeadline: .seconds(4),
                quietTime: .seconds(Campaign.isFull ? 3600 : 240)
            )
            try await Scenario.run("backlog", quick: 3000, full: 1_000_000, plan: plan) { scenario in
                var remaining = scenario.size
                while remaining > 0 {
                    try await scenario.send(scenario.makeRequests(min(remaining, 10_000)))
                    remaining -= 10_000
                }
                let slow = Fault.delay(.milliseconds(2000))
                scenario.fleet.sandbox.add(slow, times: -1)
                let worker = try await scenario.startWorker(["WORKER_MAX_IN_FLIGHT": "20"])
                try await scenario.waitForCalls(20)
                let memory = try await watch(worker, scenario, seconds: Campaign.isFull ? 600 : 10)
                scenario.countFaults()

                let middle = memory.count / 2
                let (first, second) = (memory[..<middle].max() ?? 0, memory[middle...].max() ?? 0)
                scenario.note("memory_max_mib", max(first, second))
                scenario.note("memory_growth_mib", second - first)
                #expect(second < 256)
                #expect(second < first * 1.1 + 8)
                let start = ContinuousClock.now
                try await worker.stop()
                scenario.note("exit_seconds", (ContinuousClock.now - start) / .seconds(1))

                // The remaining requests exceed this maximum age, which ends the run without sending them.
                scenario.fleet.sandbox.clearFaults()
                try await scenario.startWorker(["WORKER_MAX_REQUEST_AGE": "1s"])
            }
        }

        /// Measures the worker's memory in MiB, once a second.
        ///
        /// It also reads the events, since there are more than the mock cluster keeps.
        private func watch(_ worker: Worker, _ scenario: Scenario, seconds: Int) async throws -> [Double] {
            var memory: [Double] = []
            let calls = scenario.fleet.sent.count
            let start = ContinuousClock.now
            for _ in 0..<seconds {
                // Sets the interval of the measurements, since growing memory gives no signal.
                _ = try await scenario.fleet.allEvents(after: .seconds(1))
                memory.append(try #require(worker.program.figures).memory)
            }
            let time = (ContinuousClock.now - start) / .seconds(1)
            scenario.note("calls_per_second", Double(scenario.fleet.sent.count - calls) / time)
            let committed = try await scenario.fleet.committedOffsets().values.reduce(0, +)
            scenario.note("lag_records", Double(scenario.size) - Double(committed))
            let pending = try await scenario.fleet.database.count(
                "SELECT count(*) FROM courier.send WHERE state IN ('pending', 'claimed', 'dispatching')"
            )
            scenario.note("pending_sends", Double(pending))
            return memory
        }
    }
}
