// SPDX-License-Identifier: Apache-2.0

import PostgresClient
import Synchronization
import TestTools
import Testing

@Suite(.timeLimit(.minutes(1)))
struct PostgresPoolTests {
    /// A gate that holds every borrowed connection until it is opened.
    private final class Gate: Sendable {
        private let state = Atomic(false)
        private let holders = Atomic(0)

        /// The numbers of the waiters that got a connection after the gate was opened, in order.
        let order = Mutex<[Int]>([])

        var isOpen: Bool { state.load(ordering: .relaxed) }

        func open() { state.store(true, ordering: .relaxed) }

        func hold(_ session: Session) throws {
            holders.add(1, ordering: .relaxed)
            try block(until: { isOpen }, by: { _ = try session.execute(Statement("SELECT pg_sleep(0.002)")) })
        }

        func waitForHolders(_ count: Int) async throws {
            try await eventually("\(count) connections are held") { holders.load(ordering: .relaxed) == count }
        }
    }

    /// Runs a pool whose connections all wait at a gate, and tasks that end with the body.
    ///
    /// The gate is opened after the body in any case.
    private func withHeldPool(
        _ configuration: PostgresConfiguration? = nil,
        size: Int = 1,
        waitTimeout: Duration = .seconds(60),
        _ body: (PostgresPool, Gate, inout ThrowingTaskGroup<Void, any Error>) async throws -> Void
    ) async throws {
        try await withPool(configuration, size: size, waitTimeout: waitTimeout) { pool in
            try await withThrowingTaskGroup(of: Void.self) { group in
                let gate = Gate()
                defer { gate.open() }
                for _ in 0..<size { group.addTask { try await pool.withSession { try gate.hold($0) } } }
                try await gate.waitForHolders(size)
                try await body(pool, gate, &group)
                gate.open()
                try await group.waitForAll()
            }
        }
    }

    /// Runs a pool during the body, and closes it afterwards.
    private func withPool(
        _ configuration: PostgresConfiguration? = nil,
        size: Int = 1,
        waitTimeout: Duration = .seconds(60),
        _ body: (PostgresPool) async throws -> Void
    ) async throws {
        let configuration = try configuration ?? TestDatabase.configuration()
        let pool = PostgresPool(configuration, size: size, waitTimeout: waitTimeout)
        try await doing {
            try await body(pool)
        } afterwards: {
            await pool.close()
        }
    }

    @Test func `waiters are served in the order of asking`() async throws {
        try await withHeldPool { pool, gate, group in
            for number in 0..<20 {
                group.addTask { try await pool.withSession { _ in gate.order.withLock { $0.append(number) } } }
                try await eventually("number \(number) waits") { pool.waiterCount == number + 1 }
            }
            gate.open()
            try await group.waitForAll()
            #expect(gate.order.withLock(\.self) == Array(0..<20))
        }
    }

    @Test func `a waiter gives up at the deadline and the connection is not lost`() async throws {
        try await withPool(waitTimeout: .milliseconds(30)) { pool in
            try await withThrowingTaskGroup(of: Void.self) { group in
                let gate = Gate()
                defer { gate.open() }
                group.addTask { try await pool.withSession { try gate.hold($0) } }
                try await gate.waitForHolders(1)
                let error = try await postgresError { try await pool.withSession { _ in } }
                #expect(error.code == .poolExhausted)
                #expect(error.isRetriable)
                #expect(pool.waiterCount == 0)
                gate.open()
                try await group.waitForAll()
            }
            try await pool.withSession { _ in }
        }
    }

    @Test func `a cancelled waiter leaves the line at once`() async throws {
        try await withPool { pool in
            try await withThrowingTaskGroup(of: Void.self) { group in
                let gate = Gate()
                defer { gate.open() }
                group.addTask { try await pool.withSession { try gate.hold($0) } }
                try await gate.waitForHolders(1)
                // An unstructured task, so that it can be cancelled alone.
                let waiter = Task { try await pool.withSession { _ in } }
                defer { waiter.cancel() }
                try await eventually("it waits") { pool.waiterCount == 1 }
                waiter.cancel()
                await #expect(throws: CancellationError.self) { try await waiter.value }
                #expect(pool.waiterCount == 0)
                // A task that is cancelled before its request: its sleep ends with the cancellation.
                let early = Task {
                    try? await Task.sleep(for: .seconds(3600))
                    try await pool.withSession { _ in }
                }
                early.cancel()
                await #expect(throws: CancellationError.self) { try await early.value }
                gate.open()
                try await group.waitForAll()
            }
            try await pool.withSession { _ in }
        }
    }

    @Test func `close refuses the waiting, waits for the lent and ends every backend`() async throws {
        var configuration = try TestDatabase.configuration()
        configuration.applicationName = uniqueName("close-")
        let name = configuration.applicationName
        try await withHeldPool(configuration, size: 2) { pool, gate, group in
            group.addTask {
                let error = try await postgresError { try await pool.withSession { _ in } }
                #expect(error.code == .closed)
            }
            try await eventually("one waits") { pool.waiterCount == 1 }
            group.addTask {
                await pool.close()
                #expect(gate.isOpen, "close returned while a connection was lent")
            }
            try await eventually("nobody waits") { pool.waiterCount == 0 }
            #expect(try await postgresError { try await pool.withSession { _ in } }.code == .closed)
            gate.open()
            await pool.close()
            try await group.waitForAll()
            try await eventually("every backend has ended") {
                let count = Statement(
                    "SELECT count(*) FROM pg_stat_activity WHERE application_name = $1",
                    [.text(name)]
                )
                return try await TestDatabase.run { try $0.execute(count).onlyRow.int64(0) } == 0
            }
            #expect(try await postgresError { try await pool.withTransaction { _ in } }.code == .closed)
        }
    }

    @Test func `a connection comes back from a body that throws and from a failed connect`() async throws {
        struct Refusal: Error {}
        try await withPool(waitTimeout: .milliseconds(500)) { pool in
            for _ in 0..<3 {
                await #expect(throws: Refusal.self) { try await pool.withSession { _ in throw Refusal() } }
            }
        }
        try await withPool(PostgresConfiguration(url: "postgresql://127.0.0.1:1/x")) { nowhere in
            for _ in 0..<3 {
                let error = try await postgresError { try await nowhere.withSession { _ in } }
                #expect(error.code == .connectionFailed)
            }
        }
    }

    @Test func `a pool's connections run beside each other`() async throws {
        // `withHeldPool` returns only if all three connections are borrowed at the same time.
        try await withHeldPool(size: 3) { _, _, _ in }
    }
}
