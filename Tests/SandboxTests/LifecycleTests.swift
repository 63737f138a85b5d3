// SPDX-License-Identifier: Apache-2.0

import Logging
import ServiceLifecycle
import TestSupport
import TestTools
import Testing

@testable import Sandbox

@Suite(.timeLimit(.minutes(5)))
struct LifecycleTests {
    @Test(.timeLimit(.minutes(1)))
    func `a graceful shutdown ends open streams and held answers`() async throws {
        let sandbox = Sandbox(configuration: SandboxConfiguration(port: 0))
        let services = ServiceGroup(
            services: [sandbox],
            logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        )
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await services.run() }
            let client = Client(sandbox: sandbox, port: try await sandbox.waitUntilListening().port)
            let stream = try RawConnection(to: client.port)
            try stream.send("GET /sandbox/events HTTP/1.1\r\nhost: localhost\r\n\r\n")
            _ = await stream.read { $0.contains("retry:") }
            for fault in [Fault.silence, .endless, .drip(.seconds(60)), .delay(.seconds(60))] { sandbox.add(fault) }
            var held: [RawConnection] = []
            for number in 1...4 {
                held.append(try client.begin())
                try await eventually("taken") { await sandbox.messages().count == number }
            }
            await services.triggerGracefulShutdown()
            try await group.waitForAll()
            for connection in held { #expect(await connection.read().end == .closed) }
        }
        await #expect(throws: SandboxError.stopped) { try await sandbox.waitUntilListening() }
    }

    @Test
    func `a port in use is told to those who wait`() async throws {
        try await withSandbox { client in
            let second = Sandbox(configuration: SandboxConfiguration(port: client.port))
            await withTaskGroup(of: Void.self) { group in
                group.addTask {
                    await #expect(throws: (any Error).self) { _ = try await second.waitUntilListening() }
                }
                await #expect(throws: (any Error).self) { try await second.run() }
            }
        }
    }

    @Test
    func `whoever stops waiting is let go`() async throws {
        let sandbox = Sandbox(configuration: SandboxConfiguration(port: 0))
        await withTaskGroup(of: Void.self) { group in
            group.addTask {
                await #expect(throws: CancellationError.self) { _ = try await sandbox.waitUntilListening() }
            }
            group.cancelAll()
        }
    }
}
