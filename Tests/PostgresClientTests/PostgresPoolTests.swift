// SPDX-License-Identifier: Apache-2.0

import PostgresClient
import Synchronization
import Testing

@Suite(.timeLimit(.minutes(1)))
struct PostgresPoolTests {
    /// Holds every connection of a pool until `gate` opens.
    private final class Gate: Sendable {
        let isOpen = Atomic(false)
        let holders = Atomic(0)
        let order = Mutex<[Int]>([])

        /// Blocks the connection's own thread, as a slow statement would.
        func hold(_ session: Session) throws {
            holders.add(1, ordering: .relaxed)
            while !isOpen.load(ordering: .relaxed) { _ = try session.execute(Statement("SELECT pg_sleep(0.002)")) }
        }

        func open() { isOpen.store(true, ordering: .relaxed) }

        func waitForHolders(_ count: Int) async throws {
            try await TestDatabase.eventually { holders.load(ordering: .relaxed) == count }
        }
    }

    @Test func `waiters are served in the order of asking`() async throws {
        let pool = PostgresPool(try TestDatabase.configuration(), size: 1)
        let gate = Gate()
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await pool.withSession { try gate.hold($0) } }
            try await gate.waitForHolders(1)
            for number in 0..<20 {
                group.addTask { try await pool.withSession { _ in gate.order.withLock { $0.append(number) } } }
                try await TestDatabase.eventually { pool.waiterCount == number + 1 }
            }
            gate.open()
            try await group.waitForAll()
        }
        #expect(gate.order.withLock(\.self) == Array(0..<20))
        await pool.close()
    }

    @Test func `a waiter gives up at the deadline and the connection is not lost`() async throws {
        let pool = PostgresPool(try TestDatabase.configuration(), size: 1, waitTimeout: .milliseconds(30))
        let gate = Gate()
        try await withThrowingTaskGroup(of: Void.self) { group in
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
        await pool.close()
    }

    @Test func `a cancelled waiter leaves the line at once`() async throws {
        let pool = PostgresPool(try TestDatabase.configuration(), size: 1, waitTimeout: .seconds(60))
        let gate = Gate()
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await pool.withSession { try gate.hold($0) } }
            try await gate.waitForHolders(1)
            // Unstructured, because only a task of its own can be cancelled alone.
            let waiter = Task { try await pool.withSession { _ in } }
            try await TestDatabase.eventually { pool.waiterCount == 1 }
            waiter.cancel()
            await #expect(throws: CancellationError.self) { try await waiter.value }
            #expect(pool.waiterCount == 0)
            // One that is cancelled before it asks.
            let early = Task {
                while !Task.isCancelled { await Task.yield() }
                try await pool.withSession { _ in }
            }
            early.cancel()
            await #expect(throws: CancellationError.self) { try await early.value }
            gate.open()
            try await group.waitForAll()
        }
        try await pool.withSession { _ in }
        await pool.close()
    }

    @Test func `close refuses the waiting, waits for the lent and ends every backend`() async throws {
        var configuration = try TestDatabase.configuration()
        configuration.applicationName = "close-\(UInt64.random(in: 0...(.max)))"
        let pool = PostgresPool(configuration, size: 2)
        let gate = Gate()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<2 { group.addTask { try await pool.withSession { try gate.hold($0) } } }
            try await gate.waitForHolders(2)
            group.addTask {
                let error = try await postgresError { try await pool.withSession { _ in } }
                #expect(error.code == .closed)
            }
            try await TestDatabase.eventually { pool.waiterCount == 1 }
            group.addTask {
                await pool.close()
                let isOpen = gate.isOpen.load(ordering: .relaxed)
                #expect(isOpen, "close returned while a connection was lent")
            }
            try await TestDatabase.eventually { pool.waiterCount == 0 }
            #expect(try await postgresError { try await pool.withSession { _ in } }.code == .closed)
            gate.open()
            await pool.close()
            try await group.waitForAll()
        }
        let name = configuration.applicationName
        try await TestDatabase.eventually {
            let count = Statement("SELECT count(*) FROM pg_stat_activity WHERE application_name = $1", [.text(name)])
            return try await TestDatabase.run { try $0.execute(count).onlyRow.int64(0) } == 0
        }
        #expect(try await postgresError { try await pool.withTransaction { _ in } }.code == .closed)
    }

    @Test func `a connection comes back from a body that throws and from a failed connect`() async throws {
        struct Refusal: Error {}
        let pool = PostgresPool(try TestDatabase.configuration(), size: 1, waitTimeout: .milliseconds(500))
        for _ in 0..<3 {
            await #expect(throws: Refusal.self) { try await pool.withSession { _ in throw Refusal() } }
        }
        await pool.close()
        let nowhere = PostgresPool(PostgresConfiguration(url: "postgresql://127.0.0.1:1/x"), size: 1)
        for _ in 0..<3 {
            #expect(try await postgresError { try await nowhere.withSession { _ in } }.code == .connectionFailed)
        }
        await nowhere.close()
    }

    @Test func `a pool's connections run beside each other`() async throws {
        let pool = PostgresPool(try TestDatabase.configuration(), size: 3)
        let gate = Gate()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<3 { group.addTask { try await pool.withSession { try gate.hold($0) } } }
            try await gate.waitForHolders(3)
            gate.open()
            try await group.waitForAll()
        }
        await pool.close()
    }
}
