// SPDX-License-Identifier: Apache-2.0

import FleetSupport
import Glibc
import KafkaClient
import Sandbox
import Testing

extension Drill {
    @Suite struct Shutdown {
        /// What a worker is at when it is told to stop.
        private enum Moment: CaseIterable {
            case idle, joining, working, providerSlow, postgresGone, brokerGone

            /// Whether all that the worker needs is there, so that it can finish what it holds.
            var isHealthy: Bool { self != .postgresGone && self != .brokerGone }
        }

        @Test func `a worker that is told to stop ends in time, whatever it is at`() async throws {
            try await Scenario.run("shutdown", quick: 2, full: 84) { scenario in
                var seconds: [Double] = []
                for _ in 0..<scenario.size { seconds += try await stopAtEachMoment(scenario) }
                seconds.sort()
                scenario.note("exit_p50_seconds", seconds[seconds.count / 2])
                scenario.note("exit_p99_seconds", seconds[seconds.count * 99 / 100])
                scenario.note("exit_max_seconds", seconds.last ?? 0)
            }
        }

        @Test func `a second signal ends a worker at once`() async throws {
            try await Scenario.run("shutdown_twice", quick: 1, full: 10) { scenario in
                scenario.fleet.sandbox.add(.delay(.milliseconds(1500)), times: -1)
                var longest = Duration.zero
                for _ in 0..<scenario.size {
                    let cells = try await scenario.makeCells(1)
                    let worker = try await cells[0].startWorker()
                    try await cells[0].send(scenario.makeRequests(5))
                    try await scenario.waitForCalls(1)
                    worker.program.send(SIGTERM)
                    try await worker.waitForLog("worker.stopping")
                    let start = ContinuousClock.now
                    worker.program.send(SIGTERM)
                    #expect(try await worker.program.exit() == .code(128 + SIGTERM))
                    longest = max(longest, ContinuousClock.now - start)
                    #expect(ContinuousClock.now - start < .seconds(2))
                    scenario.countFaults()
                    try await scenario.restart(cells)
                }
                scenario.note("longest_seconds", longest / .seconds(1))
            }
        }

        /// A worker a moment, all at once, and how long each took to end.
        private func stopAtEachMoment(_ scenario: Scenario) async throws -> [Double] {
            let moments = Moment.allCases
            let cells = try await scenario.makeCells(moments.count)
            var seconds = try await withThrowingTaskGroup(of: Double.self) { group in
                for (moment, cell) in zip(moments, cells) where moment != .brokerGone {
                    group.addTask { try await stop(at: moment, cell) }
                }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            // The broker goes for all, so that moment comes when the others are over.
            if let last = cells.last { seconds.append(try await stop(at: .brokerGone, last)) }
            try scenario.fleet.cluster.mock?.brokerUp()
            try await scenario.restart(cells)
            return seconds
        }

        private func stop(at moment: Moment, _ cell: Cell) async throws -> Double {
            let scenario = cell.scenario
            return try await CuttableProxy.with(to: scenario.fleet.logins.workerURL) { proxy in
                let requests = scenario.makeRequests(moment == .providerSlow ? 5 : 20)
                if moment == .providerSlow { slowDown(requests, scenario) }
                let url = moment == .postgresGone ? proxy.url : nil
                let worker = try await cell.startJoining(postgresURL: url)
                if moment != .joining { try await worker.waitForLog("kafka.assigned") }
                if moment != .idle { try await cell.send(requests) }
                switch moment {
                case .idle, .joining, .working: break
                case .providerSlow: try await scenario.waitForCall(to: requests)
                case .postgresGone: proxy.goAway()
                case .brokerGone: try scenario.fleet.cluster.mock?.brokerDown()
                }
                // The signal comes at any point of the moment, not always at its beginning.
                try await Task.sleep(for: scenario.randomTime(below: .milliseconds(500)))
                let start = ContinuousClock.now
                worker.program.send(SIGTERM)
                let exit = try await worker.program.exit()
                #expect(exit == .code(0), "\(moment): \(worker.program.errors)")
                let seconds = (ContinuousClock.now - start) / .seconds(1)
                #expect(seconds < 25, "\(moment)")
                scenario.countFaults()
                if moment.isHealthy { try await expectNoUnknown(requests, scenario) }
                return seconds
            }
        }

        private func slowDown(_ requests: [TestRequest], _ scenario: Scenario) {
            for request in requests {
                scenario.fleet.sandbox.add(.delay(.milliseconds(1800)), to: request.phoneNumber, times: 1)
            }
        }

        /// A worker that could finish its calls knows how they ended.
        private func expectNoUnknown(_ requests: [TestRequest], _ scenario: Scenario) async throws {
            let ids = Set(requests.map(\.id))
            let events = try await scenario.fleet.allEvents(after: .milliseconds(100))
            #expect(!events.contains { ids.contains($0.body.requestId) && $0.body.status == "unknown" })
        }
    }
}
