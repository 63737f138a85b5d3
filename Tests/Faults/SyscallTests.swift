// SPDX-License-Identifier: Apache-2.0

import FleetSupport
import Formats
import TestSupport
import TestTools
import Testing

extension Standstill {
    @Suite struct Syscalls {
        /// Number of workers that run at once.
        private static let round = 12

        /// Kills a worker at each system call of a request; `points` counts those calls by thread and number.
        ///
        /// Threads that share work divide it differently each time, so a worker may never reach its point: `missed`
        /// counts these points. The same call is then another point, in another thread. Missed points are retried; in
        /// the quick run only if there are many.
        @Test func `a worker dies at every call to the system between a request and its event`() async throws {
            try await Scenario.run("syscalls", quick: 12, full: .max) { scenario in
                let points = try await countCalls(scenario)
                scenario.note("points", Double(points.count))
                // The quick run picks points at equal distances, from an offset that its seed chooses.
                let distance = max(1, (points.count - 1) / scenario.size + 1)
                let first = scenario.withDice { $0.below(distance) }
                let chosen = Array(stride(from: first, to: points.count, by: distance).map { points[$0] })
                var left = chosen
                let few = Campaign.isFull ? 0 : chosen.count / 3
                for _ in 0..<(Campaign.isFull ? 5 : 2) where left.count > few {
                    left = try await die(at: left, scenario)
                }
                scenario.note("missed", Double(left.count))
                #expect(left.count < chosen.count / 2, "most points are there again in another worker")
            }
        }

        /// The points of one worker; in the long run, of workers until three in a row have no new point.
        private func countCalls(_ scenario: Scenario) async throws -> [CallPoint] {
            var points = try await recordCalls(scenario)
            guard Campaign.isFull else { return points }
            var (known, runs) = (Set(points), 0)
            for _ in 0..<20 where runs < 3 {
                let new = try await recordCalls(scenario).filter { known.insert($0).inserted }
                points += new
                runs = new.isEmpty ? runs + 1 : 0
            }
            return points
        }

        /// Records a worker's calls for one request, after an earlier request has opened its connections.
        private func recordCalls(_ scenario: Scenario) async throws -> [CallPoint] {
            let cells = try await scenario.makeCells(1)
            let worker = try await cells[0].startWorker()
            try await warmUp(cells, scenario)
            let points = try await Tracer.record(worker, in: scenario.fleet.folder) {
                let request = scenario.makeRequests(1)
                try await cells[0].send(request)
                _ = try await scenario.fleet.events(of: request.map(\.id))
                try await eventually("the event is forgotten") {
                    try await scenario.fleet.database.count("SELECT count(*) FROM courier.unpublished") == 0
                }
            }
            try await worker.stop()
            return points
        }

        private func warmUp(_ cells: [Cell], _ scenario: Scenario) async throws {
            let requests = scenario.makeRequests(cells.count)
            try await scenario.send(requests, to: cells)
            _ = try await scenario.fleet.events(of: requests.map(\.id))
        }

        /// Runs one worker per point, and returns the points that were not reached.
        private func die(at points: [CallPoint], _ scenario: Scenario) async throws -> [CallPoint] {
            var missed: [CallPoint] = []
            for start in stride(from: 0, to: points.count, by: Self.round) {
                missed += try await die(atOnce: Array(points[start...].prefix(Self.round)), scenario)
            }
            return missed
        }

        private func die(atOnce points: [CallPoint], _ scenario: Scenario) async throws -> [CallPoint] {
            let cells = try await scenario.makeCells(points.count)
            var workers: [Worker] = []
            for cell in cells { workers.append(try await cell.startJoining()) }
            for worker in workers { try await worker.waitForLog("kafka.assigned") }
            try await warmUp(cells, scenario)
            var tracers: [Program] = []
            for (worker, point) in zip(workers, points) {
                if let tracer = try await Tracer.arm(worker, at: point, in: scenario.fleet.folder) {
                    tracers.append(tracer)
                }
            }
            let requests = scenario.makeRequests(cells.count)
            try await scenario.send(requests, to: cells)
            try? await eventually("the workers are dead", within: .seconds(3)) {
                workers.allSatisfy { !$0.program.isRunning }
            }
            // On a busy machine unfinished workers may still reach their point.
            _ = try? await eventually("each worker is dead or has answered", within: .seconds(20)) {
                let undone = zip(workers, requests).filter(\.0.program.isRunning).map(\.1.id)
                if undone.isEmpty { return true }
                return (try? await scenario.fleet.events(of: undone, within: .milliseconds(100))) != nil
            }
            let missed = zip(workers, points).filter(\.0.program.isRunning).map(\.1)
            scenario.countFaults(points.count - missed.count)
            for worker in workers { try await worker.crash() }
            for tracer in tracers { try await tracer.exit() }
            try await scenario.restart(cells)
            return missed
        }
    }
}
