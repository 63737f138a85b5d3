// SPDX-License-Identifier: Apache-2.0

import FleetSupport
import TestSupport
import Testing

extension Campaign {
    @Suite struct Syscalls {
        /// Workers that run at once.
        private static let round = 12

        @Test func `a worker dies at every call to the system between a request and its event`() async throws {
            try await Scenario.run("syscalls", quick: 24, full: .max) { scenario in
                let points = try await countCalls(scenario)
                scenario.note("points", Double(points.count))
                // The quick run takes points at even distances, from a beginning that its seed chooses.
                let distance = max(1, points.count / scenario.size)
                let first = scenario.withDice { $0.below(distance) }
                let chosen = Array(stride(from: first, to: points.count, by: distance).map { points[$0] })
                for start in stride(from: 0, to: chosen.count, by: Self.round) {
                    try await die(at: chosen[start...].prefix(Self.round), scenario)
                }
                #expect(scenario.faults > chosen.count / 2, "most points are there again in another worker")
            }
        }

        /// The calls of a worker while it handles one request, after another one that made its connections.
        private func countCalls(_ scenario: Scenario) async throws -> [CallPoint] {
            let cells = try await scenario.makeCells(1)
            let worker = try await cells[0].startWorker()
            try await warmUp(cells, scenario)
            let points = try await Tracer.record(worker, in: scenario.fleet.folder) {
                let request = scenario.makeRequests(1)
                try await cells[0].send(request)
                _ = try await scenario.fleet.events(of: request.map(\.id))
            }
            try await worker.stop()
            return points
        }

        private func warmUp(_ cells: [Cell], _ scenario: Scenario) async throws {
            let requests = scenario.makeRequests(cells.count)
            try await scenario.send(requests, to: cells)
            _ = try await scenario.fleet.events(of: requests.map(\.id))
        }

        private func die(at points: some Collection<CallPoint>, _ scenario: Scenario) async throws {
            let cells = try await scenario.makeCells(points.count)
            var workers: [Worker] = []
            for cell in cells { workers.append(try await cell.startJoining()) }
            for worker in workers { try await worker.waitForLog("kafka.assigned") }
            try await warmUp(cells, scenario)
            var tracers: [Program] = []
            for (worker, point) in zip(workers, points) {
                tracers.append(try await Tracer.arm(worker, at: point, in: scenario.fleet.folder))
            }
            let requests = scenario.makeRequests(cells.count)
            try await scenario.send(requests, to: cells)
            // Threads that share work do not share it alike each time: a worker that gets by its point is killed later.
            try? await eventually("the workers are dead", within: .seconds(3)) {
                workers.allSatisfy { !$0.program.isRunning }
            }
            for worker in workers {
                if worker.program.isRunning { scenario.note("missed", 1) } else { scenario.countFaults() }
                try await worker.crash()
            }
            for tracer in tracers { try await tracer.exit() }
            try await scenario.restart(cells)
        }
    }
}
