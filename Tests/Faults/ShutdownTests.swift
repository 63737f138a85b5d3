// SPDX-License-Identifier: Apache-2.0

import FleetSupport
import Glibc
import KafkaClient
import Sandbox
import Testing

extension Campaign {
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
                    scenario.note("second_signal_seconds", (ContinuousClock.now - start) / .seconds(1))
                    #expect(ContinuousClock.now - start < .seconds(2))
                    scenario.countFaults()
                    try await scenario.restart(cells)
                }
            }
        }

        /// A worker a moment, all at once, and how long each took to end.
        private func stopAtEachMoment(_ scenario: Scenario) async throws -> [Double] {
            let moments = Moment.allCases
            let cells = try await scenario.makeCells(moments.count)
            let slow = scenario.makeRequests(5)
            for request in slow {
                scenario.fleet.sandbox.add(.delay(.milliseconds(1800)), to: request.phoneNumber, times: 1)
            }
            var seconds: [Double] = []
            // The broker goes for all, so its moment is the last one and nobody else's.
            for moment in moments {
                let index = seconds.count
                try await CuttableProxy.with(to: scenario.fleet.logins.workerURL) { proxy in
                    let requests = moment == .providerSlow ? slow : scenario.makeRequests(20)
                    let url = moment == .postgresGone ? proxy.url : nil
                    let worker = try await cells[index].startJoining(postgresURL: url)
                    if moment != .joining { try await worker.waitForLog("kafka.assigned") }
                    if moment != .idle { try await cells[index].send(requests) }
                    try await arrange(moment, scenario, proxy)
                    try await Task.sleep(for: scenario.randomTime(below: .milliseconds(500)))
                    let start = ContinuousClock.now
                    worker.program.send(SIGTERM)
                    #expect(try await worker.program.exit() == .code(0), "\(moment)")
                    seconds.append((ContinuousClock.now - start) / .seconds(1))
                    #expect(seconds[index] < 25, "\(moment)")
                    scenario.countFaults()
                    if moment == .brokerGone { try scenario.fleet.cluster.mock?.brokerUp() }
                    if moment.isHealthy { try await expectNoUnknown(requests, scenario) }
                }
            }
            try await scenario.restart(cells)
            return seconds
        }

        private func arrange(_ moment: Moment, _ scenario: Scenario, _ proxy: CuttableProxy) async throws {
            switch moment {
            case .idle, .joining, .working: break
            case .providerSlow: try await scenario.waitForCalls(1)
            case .postgresGone: proxy.goAway()
            case .brokerGone: try scenario.fleet.cluster.mock?.brokerDown()
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
