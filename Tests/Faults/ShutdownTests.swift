// SPDX-License-Identifier: Apache-2.0

import FleetSupport
import Formats
import Glibc
import KafkaClient
import MockKafka
import Sandbox
import TestSupport
import TestTools
import Testing

extension Drill {
    @Suite struct Shutdown {
        /// The worker's situation when it receives the signal to stop.
        private enum Moment: CaseIterable {
            case idle, joining, working, providerSlow, postgresGone, brokerGone

            /// True when all dependencies are available, so that the worker can finish its sends.
            var isHealthy: Bool { self != .postgresGone && self != .brokerGone }
        }

        @Test func `a worker that is told to stop ends in time, whatever it is at`() async throws {
            let plan = Scenario.Plan(lease: .seconds(20), callDeadline: .seconds(8), quietTime: .seconds(120))
            try await Scenario.run("shutdown", quick: 2, full: 17, plan: plan) { scenario in
                let moments = Array(repeatElement(Moment.allCases, count: Campaign.isFull ? 5 : 1).joined())
                let cells = try await scenario.makeCells(moments.count)
                var seconds: [Double] = []
                for _ in scenario.rounds() { seconds += try await stop(at: moments, cells) }
                seconds.sort()
                scenario.note("exit_p50_seconds", seconds[seconds.count / 2])
                scenario.note("exit_p99_seconds", seconds[seconds.count * 99 / 100])
                scenario.note("exit_max_seconds", seconds.last ?? 0)
            }
        }

        @Test func `a second signal ends a worker at once`() async throws {
            let plan = Scenario.Plan(lease: .seconds(15), callDeadline: .seconds(6), quietTime: .seconds(120))
            try await Scenario.run("shutdown_twice", quick: 1, full: 10, plan: plan) { scenario in
                let cells = try await scenario.makeCells(scenario.size)
                try await scenario.inParallel(cells) { cell in
                    let worker = try await cell.startWorker()
                    let requests = scenario.makeRequests(5)
                    // Both this delay and the remaining drain time are longer than an immediate exit takes.
                    for request in requests {
                        scenario.fleet.sandbox.add(.delay(.milliseconds(8000)), to: request.phoneNumber)
                    }
                    try await cell.send(requests)
                    try await scenario.waitForCall(to: requests)
                    worker.program.send(SIGTERM)
                    try await worker.waitForLog("worker.stopping")
                    worker.program.send(SIGTERM)
                    let time = try await timeUntil("the worker ends", within: .seconds(60)) {
                        !worker.program.isRunning
                    }
                    #expect(try await worker.program.exit() == .code(128 + SIGTERM))
                    scenario.noteLargest("longest_seconds", time / .seconds(1))
                    #expect(time < .seconds(4))
                    scenario.countFaults()
                }
                try await scenario.restart(cells)
            }
        }

        /// Stops one worker per moment, all at once, and returns the seconds that each took.
        private func stop(at moments: [Moment], _ cells: [Cell]) async throws -> [Double] {
            guard let scenario = cells.first?.scenario else { return [] }
            let seconds = try await withThrowingTaskGroup(of: Double.self) { group in
                for (moment, cell) in zip(moments, cells) where moment != .brokerGone {
                    group.addTask { try await stop(at: moment, cell) }
                }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            // Stopping the broker affects all cells, so that moment runs after the others.
            let last = zip(moments, cells).filter { $0.0 == .brokerGone }.map(\.1)
            let lastSeconds = try await stopWithoutBroker(scenario, last)
            try await scenario.restart(cells)
            return seconds + lastSeconds
        }

        private func stopWithoutBroker(_ scenario: Scenario, _ cells: [Cell]) async throws -> [Double] {
            var workers: [Worker] = []
            for cell in cells { workers.append(try await cell.startJoining()) }
            for worker in workers { try await worker.waitForLog("kafka.assigned") }
            for cell in cells { try await cell.send(scenario.makeRequests(20)) }
            try scenario.fleet.cluster.mock?.brokerDown()
            defer { try? scenario.fleet.cluster.mock?.brokerUp() }
            return try await withThrowingTaskGroup(of: Double.self) { group in
                for worker in workers { group.addTask { try await stop(worker, at: .brokerGone, scenario) } }
                return try await group.reduce(into: []) { $0.append($1) }
            }
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
                case .brokerGone: Issue.record("the broker goes for all at once")
                }
                let seconds = try await stop(worker, at: moment, scenario)
                if moment.isHealthy { try await expectNoUnknown(requests, scenario) }
                return seconds
            }
        }

        /// Signals a worker to stop after a random time, and returns the seconds until its exit.
        private func stop(_ worker: Worker, at moment: Moment, _ scenario: Scenario) async throws -> Double {
            // The signal must hit any point of the work, which no event marks.
            try await Task.sleep(for: scenario.randomTime(below: .milliseconds(500)))
            worker.program.send(SIGTERM)
            let time = try await timeUntil("the worker ends", within: .seconds(60)) { !worker.program.isRunning }
            let exit = try await worker.program.exit()
            #expect(exit == .code(0), "\(moment): \(worker.said)")
            // The drain timeout of 25 s, and what a busy machine needs to notice the end.
            #expect(time < .seconds(27), "\(moment)")
            scenario.countFaults()
            return time / .seconds(1)
        }

        private func slowDown(_ requests: [TestRequest], _ scenario: Scenario) {
            for request in requests {
                scenario.fleet.sandbox.add(.delay(.milliseconds(1000)), to: request.phoneNumber, times: 1)
            }
        }

        /// Checks that a worker with time to finish its calls recorded their outcomes.
        private func expectNoUnknown(_ requests: [TestRequest], _ scenario: Scenario) async throws {
            let ids = Set(requests.map(\.id))
            let events = try await scenario.fleet.allEvents(after: .milliseconds(100))
            #expect(!events.contains { ids.contains($0.body.requestId) && $0.body.status == "unknown" })
        }
    }
}
