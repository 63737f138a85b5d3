// SPDX-License-Identifier: Apache-2.0

import PostgresClient
import Synchronization
import TestTools
import Testing

@Suite(.timeLimit(.minutes(2)))
struct TransactionTests {
    private struct Refusal: Error {}

    private let table = "CREATE TABLE item (id int PRIMARY KEY); CREATE TABLE counter AS SELECT 0::int8 AS value"

    @Test func `a body that throws leaves nothing behind`() async throws {
        try await TestDatabase.withPool(script: table) { pool in
            let backend = try await pool.backend()
            await #expect(throws: Refusal.self) {
                try await pool.withTransaction { transaction in
                    _ = try transaction.run([Statement("INSERT INTO item VALUES (1)")])
                    throw Refusal()
                }
            }
            #expect(try await pool.count("SELECT count(*) FROM item") == 0)
            #expect(try await pool.backend() == backend, "the connection is kept")
        }
    }

    @Test func `a body that returns is committed, with or without its own commit`() async throws {
        try await TestDatabase.withPool(script: table) { pool in
            try await pool.withTransaction { transaction in
                _ = try transaction.run([Statement("INSERT INTO item VALUES (1)")])
            }
            try await pool.withTransaction { transaction in
                let rows = try transaction.run([Statement("INSERT INTO item VALUES (2) RETURNING id")])
                #expect(try rows.first?.onlyRow.int32(0) == 2, "BEGIN's answer is not among the answers")
                let last = try transaction.commit([Statement("INSERT INTO item VALUES (3) RETURNING id")])
                #expect(last.count == 1)
                #expect(try last.first?.onlyRow.int32(0) == 3)
            }
            try await pool.withTransaction { transaction in
                let answers = try transaction.commit([Statement("INSERT INTO item VALUES (4)")])
                #expect(answers.count == 1)
            }
            try await pool.withTransaction { _ = try $0.commit() }
            try await pool.withTransaction { _ = try $0.run([]) }
            try await pool.withTransaction { _ in }
            #expect(try await pool.count("SELECT count(*) FROM item") == 4)
        }
    }

    @Test func `the isolation is read committed, and several runs are one transaction`() async throws {
        try await TestDatabase.withPool(settings: [Self.serializable]) { pool in
            try await pool.withTransaction { transaction in
                let first = try transaction.run([
                    Statement("SHOW transaction_isolation"), Statement("SELECT pg_current_xact_id()::text"),
                ])
                let second = try transaction.run([Statement("SELECT pg_current_xact_id()::text")])
                #expect(try first[0].onlyRow.text(0) == "read committed")
                #expect(try first[1].onlyRow.text(0) == second[0].onlyRow.text(0))
            }
        }
    }

    private static let serializable = (name: "default_transaction_isolation", value: "serializable")

    @Test func `after its end a transaction refuses, and what was committed stays`() async throws {
        try await TestDatabase.withPool(script: table) { pool in
            let error = try await postgresError {
                try await pool.withTransaction { transaction in
                    _ = try transaction.commit([Statement("INSERT INTO item VALUES (1)")])
                    _ = try transaction.run([Statement("INSERT INTO item VALUES (2)")])
                }
            }
            #expect(error.code == .misuse)
            #expect(try await pool.count("SELECT count(*) FROM item") == 1)
        }
    }

    @Test func `a failure that the body swallows is thrown and nothing is committed`() async throws {
        try await TestDatabase.withPool(script: table) { pool in
            let error = try await postgresError {
                try await pool.withTransaction { transaction in
                    _ = try transaction.run([Statement("INSERT INTO item VALUES (1)")])
                    _ = try? transaction.run([Statement("INSERT INTO item VALUES (1)")])
                    _ = try? transaction.commit()
                }
            }
            #expect(error.sqlState == .uniqueViolation)
            #expect(try await pool.count("SELECT count(*) FROM item") == 0)
        }
    }

    @Test func `a statement that fails beside COMMIT commits nothing`() async throws {
        try await TestDatabase.withPool(script: table) { pool in
            let error = try await postgresError {
                try await pool.withTransaction { transaction in
                    _ = try transaction.commit([
                        Statement("INSERT INTO item VALUES (1)"), Statement("INSERT INTO item VALUES (1)"),
                    ])
                }
            }
            #expect(error.sqlState == .uniqueViolation)
            #expect(!error.isAmbiguous)
            #expect(try await pool.count("SELECT count(*) FROM item") == 0)
        }
    }

    @Test func `a commit that was tried in vain undoes its own statements, and the transaction goes on`() async throws {
        try await TestDatabase.withPool(script: table) { pool in
            try await pool.withTransaction { transaction in
                _ = try transaction.run([Statement("INSERT INTO item VALUES (1)")])
                for value in [2, 3] as [Int32] {
                    let error = #expect(throws: PostgresError.self) {
                        try transaction.tryCommit([
                            Statement("INSERT INTO item VALUES ($1)", [.int32(value)]),
                            Statement("INSERT INTO item VALUES (1)"),
                        ])
                    }
                    #expect(error?.sqlState == .uniqueViolation)
                }
                let answers = try transaction.tryCommit([Statement("INSERT INTO item VALUES (4) RETURNING id")])
                #expect(answers.count == 1)
                #expect(try answers.first?.onlyRow.int32(0) == 4)
            }
            #expect(try await pool.count("SELECT sum(id) FROM item") == 5)
        }
    }

    @Test func `a commit tried at once begins and commits`() async throws {
        try await TestDatabase.withPool(script: table) { pool in
            try await pool.withTransaction { transaction in
                #expect(throws: PostgresError.self) {
                    try transaction.tryCommit([
                        Statement("INSERT INTO item VALUES (1)"), Statement("INSERT INTO item VALUES (1)"),
                    ])
                }
                _ = try transaction.tryCommit([Statement("INSERT INTO item VALUES (2)")])
            }
            #expect(try await pool.count("SELECT sum(id) FROM item") == 2)
        }
    }

    @Test func `a body that gives up after a commit in vain leaves nothing behind`() async throws {
        try await TestDatabase.withPool(script: table) { pool in
            let backend = try await pool.backend()
            let error = try await postgresError {
                try await pool.withTransaction { transaction in
                    _ = try transaction.run([Statement("INSERT INTO item VALUES (1)")])
                    _ = try transaction.tryCommit([Statement("INSERT INTO item VALUES (1)")])
                }
            }
            #expect(error.sqlState == .uniqueViolation)
            #expect(try await pool.count("SELECT count(*) FROM item") == 0)
            #expect(try await pool.backend() == backend, "the connection is kept")
        }
    }

    @Test func `a constraint that fails at COMMIT is the server's error, not an ambiguous one`() async throws {
        let script = "CREATE TABLE late (id int UNIQUE DEFERRABLE INITIALLY DEFERRED)"
        try await TestDatabase.withPool(script: script) { pool in
            let insert = Statement("INSERT INTO late VALUES (1), (1)")
            let error = try await postgresError {
                try await pool.withTransaction { _ = try $0.commit([insert]) }
            }
            #expect(error.sqlState == .uniqueViolation)
            #expect(!error.isAmbiguous)
            let alone = try await postgresError { try await pool.withSession { _ = try $0.execute(insert) } }
            #expect(alone.sqlState == .uniqueViolation)
            #expect(try await pool.count("SELECT count(*) FROM late") == 0)
        }
    }

    @Test func `a statement that ends the transaction by itself is found out`() async throws {
        try await TestDatabase.withPool(script: table) { pool in
            let error = try await postgresError {
                try await pool.withTransaction { _ = try $0.run([Statement("COMMIT")]) }
            }
            #expect(error.code == .misuse)
        }
    }

    @Test func `a session left in a transaction is ended at once, not at its next use`() async throws {
        try await TestDatabase.withPool(script: table) { pool in
            let backend = try await pool.withSession { session in
                let answers = try session.pipeline([Statement("BEGIN"), Statement("SELECT pg_backend_pid()")])
                return try answers[1].onlyRow.int32(0)
            }
            try await eventually("the session has ended") {
                let find = Statement("SELECT FROM pg_stat_activity WHERE pid = $1", [.int32(backend)])
                return try await TestDatabase.run { try $0.execute(find).isEmpty }
            }
            #expect(try await pool.backend() != backend)
        }
    }

    /// Counts the concurrent holders of a row.
    private final class Holders: Sendable {
        private let holders = Mutex(0)

        var count: Int { holders.withLock(\.self) }

        func add(_ count: Int) { holders.withLock { $0 += count } }
    }

    @Test func `a deadlock is retriable`() async throws {
        try await TestDatabase.withPool(
            size: 2,
            script: "CREATE TABLE item AS SELECT i AS id FROM generate_series(1, 2) AS i",
            // The limit is longer than `deadlock_timeout`, 1 s, so that the server detects the deadlock first.
            settings: [(name: "lock_timeout", value: "10s")]
        ) { pool in
            let holders = Holders()
            let errors = await withTaskGroup(of: PostgresError?.self) { group in
                for order: [Int32] in [[1, 2], [2, 1]] {
                    group.addTask {
                        try? await postgresError {
                            try await pool.withTransaction { transaction in
                                let lock = Statement("SELECT FROM item WHERE id = $1 FOR UPDATE", [.int32(order[0])])
                                _ = try transaction.run([lock])
                                holders.add(1)
                                let pause = Statement("SELECT pg_sleep(0.01)")
                                try block(until: { holders.count == 2 }, by: { _ = try transaction.run([pause]) })
                                _ = try transaction.run([
                                    Statement("SELECT FROM item WHERE id = $1 FOR UPDATE", [.int32(order[1])])
                                ])
                            }
                        }
                    }
                }
                return await group.reduce(into: []) { $0.append($1) }
            }
            let failures = errors.compactMap(\.self)
            #expect(failures.map(\.sqlState) == [.deadlockDetected])
            #expect(failures.map(\.isRetriable) == [true])
        }
    }

    @Test func `32 tasks of 200 transactions on 4 connections count exactly`() async throws {
        let maxWait = [(name: "lock_timeout", value: "60s")]
        try await TestDatabase.withPool(size: 4, script: table, settings: maxWait) { pool in
            try await withThrowingTaskGroup(of: Void.self) { group in
                for task in 0..<32 {
                    group.addTask {
                        for round in 0..<200 {
                            let add = Statement("UPDATE counter SET value = value + 1")
                            // Half of the updates take one round trip, half take two.
                            if (task + round).isMultiple(of: 2) {
                                try await pool.withTransaction { _ = try $0.commit([add]) }
                            } else {
                                try await pool.withTransaction { _ = try $0.run([add]) }
                            }
                        }
                    }
                }
                try await group.waitForAll()
            }
            #expect(try await pool.count("SELECT value FROM counter") == 6400)
        }
    }
}
