// SPDX-License-Identifier: Apache-2.0

import TestTools
import Testing

@testable import PostgresClient

@Suite(.timeLimit(.minutes(1)))
struct ConnectionLossTests {
    /// A statement that terminates its own session during its sleep, so that it never ends.
    private let suicide = Statement("SELECT pg_terminate_backend(pg_backend_pid()), pg_sleep(5)")

    @Test func `a session ended under a statement is lost, retriable, and the next use connects again`() async throws {
        try await TestDatabase.withPool { pool in
            let before = try await pool.backend()
            let error = try await postgresError { try await pool.withSession { _ = try $0.execute(suicide) } }
            #expect(error.code == .connectionLost)
            #expect(error.sqlState == .adminShutdown)
            #expect(error.isRetriable && error.isConnectionError && !error.isAmbiguous)
            #expect(try await pool.backend() != before)
        }
    }

    @Test func `a session ended in a transaction before COMMIT is lost, not ambiguous`() async throws {
        try await TestDatabase.withPool(script: "CREATE TABLE item (id int)") { pool in
            for all in [false, true] {
                let error = try await postgresError {
                    try await pool.withTransaction { transaction in
                        _ = try transaction.run([Statement("INSERT INTO item VALUES (1)")])
                        if all { _ = try transaction.commit([suicide]) } else { _ = try transaction.run([suicide]) }
                    }
                }
                #expect(error.code == .connectionLost)
                #expect(error.isRetriable)
            }
            #expect(try await pool.count("SELECT count(*) FROM item") == 0)
        }
    }

    @Test func `a body that goes on after the loss meets the loss again`() async throws {
        try await TestDatabase.withPool { pool in
            let error = try await postgresError {
                try await pool.withSession { session in
                    _ = try? session.execute(suicide)
                    _ = try session.execute(Statement("SELECT 1"))
                }
            }
            #expect(error.code == .connectionLost)
        }
    }

    @Test func `a session ended while it rested is replaced without an error`() async throws {
        try await TestDatabase.withPool { pool in
            let victim = try await pool.backend()
            #expect(!pool.sawOutage(within: .seconds(60)))
            try await TestDatabase.run { session in
                _ = try session.execute(Statement("SELECT pg_terminate_backend($1, 5000)", [.int32(victim)]))
            }
            #expect(try await pool.backend() != victim)
            #expect(pool.sawOutage(within: .seconds(60)))
            #expect(!pool.sawOutage(within: .zero))
        }
    }

    @Test func `work that is refused for want of room is a sign of an outage, a faulty statement is none`() async throws
    {
        try await TestDatabase.withPool { pool in
            func fail(with state: String) async throws {
                let script = "DO $$ BEGIN RAISE EXCEPTION 'x' USING ERRCODE = '\(state)'; END $$"
                _ = try await postgresError { try await pool.withSession { try $0.script(script) } }
            }
            try await fail(with: "22021")
            #expect(!pool.sawOutage(within: .seconds(60)))
            try await fail(with: "53100")
            #expect(pool.sawOutage(within: .seconds(60)))
        }
    }

    @Test func `a connection that cannot be made is no sign of an outage of the others`() async throws {
        let pool = PostgresPool(PostgresConfiguration(url: "postgresql://nobody@127.0.0.1:1/none"), size: 1)
        for _ in 0..<2 { _ = try await postgresError { try await pool.withSession { _ in } } }
        #expect(!pool.sawOutage(within: .seconds(60)))
        await pool.close()
    }

    // The trigger terminates the session during its sleep, so that COMMIT gets no answer.
    @Test func `a session ended at COMMIT is ambiguous`() async throws {
        let script = """
            CREATE TABLE item (id int);
            CREATE FUNCTION die() RETURNS trigger LANGUAGE plpgsql AS
                $$ BEGIN PERFORM pg_terminate_backend(pg_backend_pid()); PERFORM pg_sleep(5); RETURN NULL; END $$;
            CREATE CONSTRAINT TRIGGER die AFTER INSERT ON item DEFERRABLE INITIALLY DEFERRED
                FOR EACH ROW EXECUTE FUNCTION die();
            """
        try await TestDatabase.withPool(script: script) { pool in
            let insert = Statement("INSERT INTO item VALUES (1)")
            let works: [@Sendable (Transaction) throws -> Void] = [
                { _ = try $0.run([insert]) },
                { _ = try $0.commit([insert]) },
            ]
            for work in works {
                let error = try await postgresError { try await pool.withTransaction(work) }
                #expect(error.code == .ambiguousCommit)
                #expect(error.isAmbiguous && error.isConnectionError && !error.isRetriable)
            }
            let alone = try await postgresError { try await pool.withSession { _ = try $0.execute(insert) } }
            #expect(alone.isAmbiguous, "the end of a statement outside a transaction is a COMMIT too")
        }
    }

    /// Runs a proxy that damages a connection once its client sends a text.
    private func withProxy(
        at text: String,
        _ harm: CuttableProxy.Harm,
        _ body: (CuttableProxy) async throws -> Void
    ) async throws {
        let listener: CuttableProxy.Listener = { $0.contains(text.utf8) ? harm : nil }
        try await CuttableProxy.with(to: try TestDatabase.url(), listener: { listener }, body)
    }

    @Test(arguments: [CuttableProxy.Harm.swallowAnswer, .swallowRequest])
    func `a connection cut at COMMIT is ambiguous whether it was done or not`(harm: CuttableProxy.Harm) async throws {
        try await TestDatabase.withPool(script: "CREATE TABLE item (id int)") { pool in
            let schema = try await pool.withSession { session in
                try session.execute(Statement("SELECT current_schema()::text")).onlyRow.text(0)
            }
            try await withProxy(at: "COMMIT\0", harm) { proxy in
                var configuration = PostgresConfiguration(url: proxy.url)
                configuration.settings = [(name: "search_path", value: schema)]
                let connection = PostgresPool(configuration, size: 1)
                let error = try await postgresError {
                    try await connection.withTransaction { transaction in
                        _ = try transaction.run([Statement("INSERT INTO item VALUES (1)")])
                    }
                }
                #expect(error == PostgresError(.ambiguousCommit))
                let expected: Int64 = harm == .swallowAnswer ? 1 : 0
                #expect(try await pool.count("SELECT count(*) FROM item") == expected)
                await connection.close()
            }
        }
    }

    @Test func `a connection cut before COMMIT was sent is lost and retriable`() async throws {
        try await withProxy(at: "'needle'", .swallowAnswer) { proxy in
            let pool = PostgresPool(PostgresConfiguration(url: proxy.url), size: 1)
            let error = try await postgresError {
                try await pool.withTransaction { _ = try $0.run([Statement("SELECT 'needle'")]) }
            }
            #expect(error == PostgresError(.connectionLost))
            #expect(error.isRetriable)
            await pool.close()
        }
    }

    @Test func `a server that falls silent is given up`() async throws {
        try await withProxy(at: "'needle'", .fallSilent) { proxy in
            var configuration = PostgresConfiguration(url: proxy.url)
            configuration.statementTimeout = .seconds(1)
            let pool = PostgresPool(configuration, size: 1)
            let error = try await postgresError {
                try await pool.withTransaction { _ = try $0.run([Statement("SELECT 'needle'")]) }
            }
            #expect(error == PostgresError(.connectionLost))
            await pool.close()
        }
    }

    @Test func `however much is asked, a silent server is given up within half a minute`() {
        func silence(_ statements: Int, _ timeout: Duration) -> Duration? {
            Session.silence(of: statements, statementTimeout: timeout)
        }
        #expect(silence(1, .seconds(10)) == .seconds(15))
        #expect(silence(2, .seconds(10)) == .seconds(25))
        #expect(silence(10, .seconds(10)) == .seconds(30))
        #expect(silence(3, .seconds(600)) == .seconds(605), "one statement alone may take longer")
        #expect(silence(3, .zero) == nil)
    }

    @Test func `a server that is not there is a failed connection with a reason and without the password`() async throws
    {
        let url = "postgresql://someone:hunter2@127.0.0.1:1/nowhere"
        let connection = PostgresConnection(PostgresConfiguration(url: url))
        let error = try await postgresError { try await connection.run { _ in } }
        #expect(error.code == .connectionFailed)
        #expect(error.isRetriable && error.isConnectionError && !error.isAmbiguous)
        #expect(error.reason?.contains("Connection refused") == true)
        #expect(!error.description.contains("hunter2"))
        #expect(!error.description.contains("\n"))
    }

    @Test func `of several hosts each one's cause is told, without the password`() async throws {
        let url = "postgresql://someone:hunter2@127.0.0.1:1,127.0.0.1:2,[::1]:3/nowhere"
        let error = try await postgresError {
            try await PostgresConnection(PostgresConfiguration(url: url)).run { _ in }
        }
        for port in 1...3 { #expect(error.reason?.contains("port \(port) failed") == true, "\(error)") }
        #expect(!error.description.contains("hunter2"))
        #expect(!error.description.contains("\n"))
    }

    @Test func `a refused login says so`() async throws {
        let url = try TestDatabase.url(with: "user=no_such_role_here")
        let error = try await postgresError {
            try await PostgresConnection(PostgresConfiguration(url: url)).run { _ in }
        }
        #expect(error.code == .connectionFailed)
        #expect(error.reason?.contains("no_such_role_here") == true)
    }

    @Test(arguments: [
        "", "nonsense", "postgresql://a:hunter2%zz@h/d", "postgresql://h/d?hunter2=1", "http://hunter2",
        "postgresql://a:hunter2/zz@127.0.0.1/d", "postgresql://a:zz@hunter2@127.0.0.1/d",
        "postgresql://a:zz/hunter2@127.0.0.1/d", "postgresql://a:zz#hunter2@127.0.0.1:1/d",
    ])
    func `a malformed URI is a failed connection that quotes nothing`(url: String) async throws {
        let error = try await postgresError {
            try await PostgresConnection(PostgresConfiguration(url: url)).run { _ in }
        }
        #expect(error.code == .connectionFailed)
        #expect(!error.description.contains("hunter2"))
    }

    @Test func `a URI that cannot be read tells how its password is written`() {
        #expect(throws: PostgresError.self) { try ConnectionKeywords.parse("postgresql://a:hunter2%zz@h/d") }
        do throws(PostgresError) {
            _ = try ConnectionKeywords.parse("postgresql://a:hunter2%zz@h/d")
        } catch {
            #expect(error.reason?.hasSuffix("write @ : / % in its password as %40 %3A %2F %25") == true)
        }
    }

    @Test func `a password in libpq's text is blotted out`() throws {
        let configuration = PostgresConfiguration(url: "postgresql://a:hunter2@h/d", password: { "other" })
        let keywords = try ConnectionKeywords(configuration)
        #expect(keywords.sanitized("bad hunter2 or\u{7} other\nmore") == "bad ****** or ******")
        #expect(
            keywords.sanitized("could not translate host name \"db\" to") == "could not translate host name \"db\" to"
        )
        #expect(keywords.sanitized("invalid integer value \"x\" for") == "invalid integer value \"…\" for")
    }
}
