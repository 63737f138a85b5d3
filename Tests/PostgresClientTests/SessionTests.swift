// SPDX-License-Identifier: Apache-2.0

import PostgresClient
import Synchronization
import Testing

@Suite(.timeLimit(.minutes(1)))
struct SessionTests {
    @Test func `five megabytes out and five back in one pipeline do not hang`() async throws {
        let block = [UInt8](repeating: 7, count: 100_000)
        let sizes = try await TestDatabase.run { session in
            let statements = (0..<50).map { _ in Statement("SELECT $1", [.bytes(block)]) }
            return try session.pipeline(statements).map { try $0.onlyRow.bytes(0).count }
        }
        #expect(sizes == [Int](repeating: 100_000, count: 50))
    }

    @Test func `five megabytes out and fifty back, more than the sockets hold, do not hang`() async throws {
        let block = [UInt8](repeating: 7, count: 100_000)
        let sizes = try await TestDatabase.run { session in
            let statements = (0..<50).map { _ in Statement("SELECT repeat('x', 10 * length($1))", [.bytes(block)]) }
            return try session.pipeline(statements).map { try $0.onlyRow.text(0).utf8.count }
        }
        #expect(sizes == [Int](repeating: 1_000_000, count: 50))
    }

    @Test func `the URI is asked for at each connection, so that a login may change`() async throws {
        var configuration = try TestDatabase.configuration()
        let names = Names()
        configuration.newestURL = { names.next() }
        let connection = PostgresConnection(configuration)
        let question = Statement("SELECT current_setting('application_name')")
        var seen: [String] = []
        for _ in 0..<2 { seen.append(try await connection.run { try $0.execute(question).onlyRow.text(0) }) }
        await connection.close()
        seen.append(try await connection.run { try $0.execute(question).onlyRow.text(0) })
        #expect(seen == ["name1", "name1", "name2"])
        await connection.close()
    }

    @Test func `each answer is told of as it comes`() async throws {
        var configuration = try TestDatabase.configuration()
        let answers = Mutex(0)
        configuration.onAnswer = { answers.withLock { $0 += 1 } }
        let connection = PostgresConnection(configuration)
        let one = Statement("SELECT 1").repeated
        try await connection.run { session in
            try session.execute(one)
            let before = answers.withLock(\.self)
            try session.pipeline([one, one, one])
            #expect(answers.withLock(\.self) >= before + 3)
        }
        await connection.close()
    }

    @Test func `one statement takes five megabytes of array`() async throws {
        let texts = (0..<50_000).map { _ in String(repeating: "x", count: 100) }
        let total = try await TestDatabase.run { session in
            try session.execute(Statement("SELECT sum(length(t)) FROM unnest($1) AS t", [.texts(texts)])).onlyRow.int64(
                0
            )
        }
        #expect(total == 5_000_000)
    }

    @Test func `an error in a pipeline undoes all of it and leaves the connection usable`() async throws {
        try await TestDatabase.withPool(script: "CREATE TABLE item (id int)") { pool in
            let before = try await pool.backend()
            let error = try await postgresError {
                _ = try await pool.withSession { session in
                    try session.pipeline([
                        Statement("INSERT INTO item VALUES (1)"),
                        Statement("SELECT 1 / $1", [.int32(0)]),
                        Statement("INSERT INTO item VALUES (2)"),
                        Statement("SELECT no_such_function()"),
                    ])
                }
            }
            #expect(error.code == .server)
            #expect(error.sqlState?.rawValue == "22012", "the first error is the one thrown")
            #expect(!error.isRetriable)
            #expect(try await pool.count("SELECT count(*) FROM item") == 0)
            #expect(try await pool.backend() == before)
        }
    }

    @Test func `a unique violation names its constraint and no value`() async throws {
        let script = "CREATE TABLE person (phone text CONSTRAINT person_phone_key UNIQUE)"
        try await TestDatabase.withPool(script: script) { pool in
            let error = try await postgresError {
                try await pool.withSession { session in
                    for _ in 0..<2 {
                        _ = try session.execute(Statement("INSERT INTO person VALUES ($1)", [.text("+15550001234")]))
                    }
                }
            }
            #expect(error.sqlState == .uniqueViolation)
            #expect(error.constraint == "person_phone_key")
            #expect(error.table == "person")
            #expect(
                error.description
                    == "PostgreSQL server 23505 (unique_violation) table=person constraint=person_phone_key"
            )
            #expect(!String(reflecting: error).contains("5550001234"))
            #expect(!error.isRetriable && !error.isConnectionError && !error.isAmbiguous)
        }
    }

    @Test func `a statement that runs too long is ended`() async throws {
        var configuration = try TestDatabase.configuration()
        configuration.statementTimeout = .milliseconds(50)
        let connection = PostgresConnection(configuration)
        let error = try await postgresError {
            // The sleep is the statement to cancel.
            try await connection.run { session in _ = try session.execute(Statement("SELECT pg_sleep(20)")) }
        }
        #expect(error.sqlState == .queryCanceled)
        #expect(error.isRetriable)
        #expect(try await connection.run { try $0.execute(Statement("SELECT 1")).onlyRow.int32(0) } == 1)
    }

    @Test func `limits and settings reach the server, spaces and backslashes included`() async throws {
        var configuration = try TestDatabase.configuration()
        configuration.applicationName = "a name"
        configuration.lockTimeout = .milliseconds(1500)
        configuration.settings = [(name: "courier.note", value: "a b\\c 'd'")]
        let connection = PostgresConnection(configuration)
        let values = try await connection.run { session in
            let row = try session.execute(
                Statement(
                    """
                    SELECT current_setting('statement_timeout'), current_setting('lock_timeout'),
                           current_setting('idle_in_transaction_session_timeout'), current_setting('courier.note'),
                           current_setting('application_name'), current_setting('client_encoding')
                    """
                )
            ).onlyRow
            return try (0..<6).map { try row.text($0) }
        }
        #expect(values == ["10s", "1500ms", "10s", "a b\\c 'd'", "a name", "UTF8"])
    }

    @Test func `the server probes a silent connection, and a limit that it does not know is left out`() async throws {
        var configuration = try TestDatabase.configuration()
        configuration.transactionTimeout = .seconds(30)
        let connection = PostgresConnection(configuration)
        let values = try await connection.run { session in
            let row = try session.execute(
                Statement(
                    """
                    SELECT current_setting('tcp_keepalives_idle'), current_setting('tcp_keepalives_interval'),
                           current_setting('tcp_keepalives_count'), current_setting('tcp_user_timeout'),
                           CASE WHEN current_setting('server_version_num')::int < 170000 THEN '30s'
                               ELSE current_setting('transaction_timeout', true) END
                    """
                )
            ).onlyRow
            return try (0..<5).map { try row.text($0) }
        }
        #expect(values == ["5", "2", "3", "10000", "30s"])
    }

    @Test func `a URI's own options and name win`() async throws {
        let url = try TestDatabase.url(with: "application_name=mine&options=-c%20lock_timeout%3D7s")
        let connection = PostgresConnection(PostgresConfiguration(url: url))
        let values = try await connection.run { session in
            let row = try session.execute(
                Statement(
                    """
                    SELECT current_setting('application_name'), current_setting('lock_timeout'),
                           current_setting('statement_timeout')
                    """
                )
            ).onlyRow
            return try (0..<3).map { try row.text($0) }
        }
        #expect(values == ["mine", "7s", "10s"])
    }

    @Test func `a script runs many statements and stops at the first error`() async throws {
        try await TestDatabase.withPool { pool in
            try await pool.withSession { session in
                try session.script("CREATE TABLE item (id int); INSERT INTO item VALUES (1), (2); SELECT 1;")
                try session.script("")
            }
            let error = try await postgresError {
                try await pool.withSession { try $0.script("DELETE FROM item; SELECT 1 / 0; SELECT 2") }
            }
            #expect(error.sqlState?.rawValue == "22012")
            #expect(
                try await postgresError { try await pool.withSession { try $0.script("SELECT 1\0") } }.code == .misuse
            )
            #expect(try await pool.count("SELECT count(*) FROM item") == 2)
        }
    }

    @Test func `COPY is refused and costs only the connection`() async throws {
        try await TestDatabase.withPool { pool in
            for statement in [Statement("COPY (SELECT 1) TO STDOUT"), Statement("COPY pg_class FROM STDIN")] {
                let error = try await postgresError { try await pool.withSession { _ = try $0.execute(statement) } }
                #expect(error.code == .misuse)
            }
            let error = try await postgresError {
                try await pool.withSession { try $0.script("COPY pg_class FROM STDIN") }
            }
            #expect(error.code == .misuse)
            #expect(try await pool.count("SELECT 1::int8") == 1)
        }
    }

    @Test func `no statement is no round trip and no answer`() async throws {
        #expect(try await TestDatabase.run { try $0.pipeline([]).count } == 0)
        #expect(try await TestDatabase.run { try $0.execute(Statement("")).count } == 0)
    }
}

extension PostgresPool {
    /// The first column of the only row, an `int8`.
    func count(_ sql: StaticString) async throws -> Int64 {
        try await withSession { try $0.execute(Statement(sql)).onlyRow.int64(0) }
    }

    /// The server process of the next borrowed connection.
    func backend() async throws -> Int32 {
        try await withSession { try $0.execute(Statement("SELECT pg_backend_pid()")).onlyRow.int32(0) }
    }
}

/// URIs of the test server, each with a different name.
private final class Names: Sendable {
    private let count = Mutex(0)

    func next() -> String {
        let number = count.withLock { count in
            count += 1
            return count
        }
        return (try? TestDatabase.url(with: "application_name=name\(number)")) ?? ""
    }
}
