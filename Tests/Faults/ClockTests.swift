// SPDX-License-Identifier: Apache-2.0

import FleetSupport
import Formats
import Logging
import Logs
import ServiceLifecycle
import Synchronization
import TestSupport
import TestTools
import Testing
import UnixSignals
import Verification

@testable import CodeCourier

extension Drill {
    @Suite struct Clocks {
        @Test func `workers whose clocks are ten minutes off decide as all others do`() async throws {
            // All requests arrive at once. With a short deadline a busy machine would look like a silent provider.
            let plan = Scenario.Plan(lease: .seconds(30), callDeadline: .seconds(10), quietTime: .seconds(120))
            try await Scenario.run("clock", quick: 300, full: 20_000, plan: plan) { scenario in
                let ends = [Duration.seconds(600), .seconds(-600)].map { ($0, AsyncStream.makeStream(of: Void.self)) }
                try await withThrowingTaskGroup(of: Void.self) { group in
                    // The system clock cannot be set for one process, so these workers run inside the test process.
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

        @Test func `a worker whose machine has the wrong time decides nothing until that is right`() async throws {
            try await Scenario.run("machine_clock", quick: 50, full: 50) { scenario in
                let end = AsyncStream.makeStream(of: Void.self)
                let lead = Lead()
                let log = LogRecord()
                try await withThrowingTaskGroup(of: Void.self) { group in
                    scenario.countFaults()
                    group.addTask {
                        try await run(
                            scenario,
                            systemClock: { .now + lead.value.withLock(\.self) },
                            logger: log.logger,
                            until: end.stream
                        )
                    }
                    let requests = scenario.makeRequests(scenario.size)
                    try await scenario.send(requests)
                    try await eventually("it has read some and holds them", within: .seconds(60)) {
                        log.events.contains("clock.held") && log.events.contains("kafka.assigned")
                    }
                    let rightAt = Timestamp.now
                    lead.value.withLock { $0 = .zero }
                    let events = try await scenario.fleet.events(
                        of: requests.map(\.id),
                        within: scenario.plan.quietTime
                    )
                    #expect(events.allSatisfy { Timestamp(rfc3339: $0.body.occurredAt).map { $0 >= rightAt } == true })
                    #expect(log.events.contains("clock.right"))
                    end.continuation.finish()
                    try await group.waitForAll()
                }
            }
        }

        private func run(
            _ scenario: Scenario,
            offset: Duration = .zero,
            systemClock: @escaping @Sendable () -> Timestamp = { .now },
            logger: Logger = Logger(label: "worker") { _ in SwiftLogNoOpLogHandler() },
            until end: AsyncStream<Void>
        ) async throws {
            let folder = scenario.fleet.folder
            let configuration = try CourierConfiguration.load(
                path: folder[TestFleet.configurationFile],
                environment: scenario.environment()
            ).get()
            let policy = try PolicyFile.load(path: folder[TestFleet.policyFile]).get()
            let worker = try await Worker(
                configuration,
                policy: policy,
                now: { .now + offset },
                systemClock: systemClock,
                logger: logger
            )
            let signals = await UnixSignalsSequence(trapping: [UnixSignal]())
            try await worker.run(with: [End(signal: end)], until: signals, logger: logger)
        }
    }
}

/// The lead of a machine's clock.
private final class Lead: Sendable {
    let value = Mutex(Duration.seconds(-120))
}

/// Ends its worker when the scenario is over.
private struct End: Service {
    let signal: AsyncStream<Void>

    func run() async throws {
        for await _ in signal.cancelOnGracefulShutdown() {}
    }
}
