// SPDX-License-Identifier: Apache-2.0

import FleetSupport
import Logging
import Logs
import ServiceLifecycle
import Testing
import UnixSignals
import Verification

@testable import CodeCourier

extension Drill {
    @Suite struct Clocks {
        @Test func `workers whose clocks are ten minutes off decide as all others do`() async throws {
            // All requests come at once: what a busy machine makes of them must not be taken for a silent provider.
            let plan = Scenario.Plan(lease: .seconds(30), callDeadline: .seconds(10), quietTime: .seconds(120))
            try await Scenario.run("clock", quick: 300, full: 20_000, plan: plan) { scenario in
                let ends = [Duration.seconds(600), .seconds(-600)].map { ($0, AsyncStream.makeStream(of: Void.self)) }
                try await withThrowingTaskGroup(of: Void.self) { group in
                    // A process has no clock of its own, so these workers are part of this one.
                    for (offset, end) in ends {
                        scenario.countFaults()
                        group.addTask { try await run(scenario, offset: offset, until: end.stream) }
                    }
                    try await scenario.startWorker()
                    let requests = scenario.makeRequests(scenario.size)
                    let again = requests.prefix(scenario.size / 3)
                    try await scenario.send(requests + again)
                    let events = try await scenario.fleet.events(
                        of: requests.map(\.id),
                        within: scenario.plan.quietTime
                    )
                    let decisions = events.filter { $0.body.reason != "duplicate_request" }
                    #expect(Set(decisions.map(\.answer)) == [Answer("sent")])
                    for (_, end) in ends { end.continuation.finish() }
                    try await group.waitForAll()
                }
            }
        }

        private func run(_ scenario: Scenario, offset: Duration, until end: AsyncStream<Void>) async throws {
            let folder = scenario.fleet.folder
            let configuration = try CourierConfiguration.load(
                path: folder[TestFleet.configurationFile],
                environment: scenario.environment()
            ).get()
            let policy = try PolicyFile.load(path: folder[TestFleet.policyFile]).get()
            let logger = Logger(label: "worker") { _ in SwiftLogNoOpLogHandler() }
            let worker = try await Worker(configuration, policy: policy, now: { .now + offset }, logger: logger)
            let signals = await UnixSignalsSequence(trapping: [UnixSignal]())
            try await worker.run(with: [End(signal: end)], until: signals, logger: logger)
        }
    }
}

/// Ends its worker when the scenario is over.
private struct End: Service {
    let signal: AsyncStream<Void>

    func run() async throws {
        for await _ in signal.cancelOnGracefulShutdown() {}
    }
}
