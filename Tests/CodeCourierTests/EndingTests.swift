// SPDX-License-Identifier: Apache-2.0

import Logging
import ServiceLifecycle
import Testing
import UnixSignals

@testable import CodeCourier

@Suite struct EndingTests {
    @Test(.timeLimit(.minutes(1)))
    func `a stop that comes before the services run ends them in order`() async throws {
        let ending = Ending(drainTimeout: .seconds(3600), heartbeat: nil, logger: Logger(label: "test"))
        await ending.serve(signals(.sigterm))
        try await group(ending, Waiter()).run()
    }

    @Test(.timeLimit(.minutes(1)))
    func `a stop while the services run ends them in order`() async throws {
        let ending = Ending(drainTimeout: .seconds(3600), heartbeat: nil, logger: Logger(label: "test"))
        try await withThrowingTaskGroup(of: Void.self) { tasks in
            tasks.addTask { try await group(ending, Waiter { await ending.serve(signals(.sigint)) }).run() }
            try await tasks.waitForAll()
        }
    }

    @Test(.timeLimit(.minutes(1)))
    func `a group whose services have ended waits for no signal`() async throws {
        let ending = Ending(drainTimeout: .seconds(3600), heartbeat: nil, logger: Logger(label: "test"))
        try await group(ending, Finisher()).run()
    }

    /// A service that runs `work` and then waits for the graceful shutdown.
    private struct Waiter: Service {
        var work: @Sendable () async -> Void = {}

        func run() async throws {
            await work()
            try await gracefulShutdown()
        }
    }

    private struct Finisher: Service {
        func run() async {}
    }

    private func group(_ services: any Service...) -> ServiceGroup {
        ServiceGroup(
            configuration: .init(
                services: services.map { .init(service: $0, successTerminationBehavior: .gracefullyShutdownGroup) },
                logger: Logger(label: "test")
            )
        )
    }

    private func signals(_ signals: UnixSignal...) -> AsyncStream<UnixSignal> {
        AsyncStream { stream in
            for signal in signals { stream.yield(signal) }
            stream.finish()
        }
    }
}
