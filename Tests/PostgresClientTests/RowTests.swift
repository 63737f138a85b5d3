// SPDX-License-Identifier: Apache-2.0

import PostgresClient
import Testing

@Suite(.timeLimit(.minutes(1)))
struct RowTests {
    private func read<Value: Sendable>(
        _ statement: Statement,
        _ body: @Sendable (Rows) throws -> Value
    ) async throws -> Value {
        try await TestDatabase.run { session in try body(try session.execute(statement)) }
    }

    @Test func `a read of the wrong type, of NULL, of no column or of no row throws and never traps`() async throws {
        let rows = try await read(Statement("SELECT 1::int4, NULL::int8, 'x'::text")) { $0 }
        let row = rows[0]
        let reads: [(String, (Row) throws -> Void)] = [
            ("another width", { _ = try $0.int64(0) }),
            ("another type", { _ = try $0.text(0) }),
            ("NULL", { _ = try $0.int64(1) }),
            ("text as bytes", { _ = try $0.bytes(2) }),
            ("a column past the end", { _ = try $0.int32(3) }),
            ("a column before the start", { _ = try $0.int32(-1) }),
            ("a column that C cannot count", { _ = try $0.int32(.max) }),
        ]
        for (name, read) in reads {
            let error = try await postgresError { try read(row) }
            #expect(error.code == .unexpectedResult, "\(name)")
        }
        for position in [-1, 1, Int.max] {
            #expect(try await postgresError { _ = try rows[position].int32(0) }.code == .unexpectedResult)
        }
        #expect(try row.optionalInt64(1) == nil)
    }

    @Test func `rows outlive their session`() async throws {
        let rows = try await read(Statement("SELECT i FROM generate_series(1, 1000) AS i")) { $0 }
        #expect(try rows.map { try $0.int32(0) } == Array(1...1000))
    }

    @Test func `only one row is the only row`() async throws {
        for count in [0, 2] {
            let rows = try await read(Statement("SELECT generate_series(1, $1)", [.int32(Int32(count))])) { $0 }
            #expect(rows.count == count)
            #expect(try await postgresError { _ = try rows.onlyRow }.code == .unexpectedResult)
        }
    }

    @Test func `enumerations, names and varchars are read as text`() async throws {
        try await TestDatabase.withPool(script: "CREATE TYPE mood AS ENUM ('calm', 'wild')") { pool in
            let texts = try await pool.withSession { session in
                let row = try session.execute(Statement("SELECT 'wild'::mood, 'n'::name, 'v'::varchar(3)")).onlyRow
                return try (0..<3).map { try row.text($0) }
            }
            #expect(texts == ["wild", "n", "v"])
        }
    }

    @Test func `affected rows are counted`() async throws {
        try await TestDatabase.withPool(script: "CREATE TABLE item (id int)") { pool in
            let counts = try await pool.withSession { session in
                try session.pipeline([
                    Statement("INSERT INTO item SELECT unnest($1)", [.int32s([1, 2, 3])]),
                    Statement("UPDATE item SET id = id + 1 WHERE id > 1"),
                    Statement("DELETE FROM item"),
                    Statement("CREATE TABLE other ()"),
                ]).map(\.affectedRows)
            }
            #expect(counts == [3, 2, 3, 0])
        }
    }
}
