// SPDX-License-Identifier: Apache-2.0

import PostgresClient
import Testing

@Suite(.timeLimit(.minutes(1)))
struct ParameterTests {
    /// Returns a parameter as the server converts it to text, and as it is read back in binary.
    private func echo<Value: Sendable & Equatable>(
        _ statement: Statement,
        _ read: @Sendable (Row, Int) throws -> Value
    ) async throws -> (value: Value, text: String?) {
        try await TestDatabase.run { session in
            let row = try session.execute(statement).onlyRow
            return (try read(row, 0), try row.optionalText(1))
        }
    }

    @Test(arguments: ["", "a", "naïve – 漢字 👩‍👩‍👧 '\";--", String(repeating: "x", count: 70_000), nil])
    func `text comes back as it went`(value: String?) async throws {
        let answer = try await echo(Statement("SELECT $1, $1::text", [.text(value)])) { try $0.optionalText($1) }
        #expect(answer.value == value)
        #expect(answer.text == value)
    }

    @Test(arguments: [[], [0], [0, 255, 10, 92], nil] as [[UInt8]?])
    func `bytes come back as they went`(value: [UInt8]?) async throws {
        let answer = try await echo(Statement("SELECT $1, encode($1, 'hex')", [.bytes(value)])) {
            try $0.optionalBytes($1)
        }
        #expect(answer.value == value)
        #expect(answer.text == value?.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined())
    }

    @Test(arguments: [0, 0x0123_4567_89ab_cdef_0123_4567_89ab_cdef, UInt128.max, nil] as [UInt128?])
    func `a UUID comes back as it went`(value: UInt128?) async throws {
        let answer = try await echo(Statement("SELECT $1, replace($1::text, '-', '')", [.uuid(value)])) {
            try $0.optionalUUID($1)
        }
        #expect(answer.value == value)
        #expect(answer.text.flatMap { UInt128($0, radix: 16) } == value)
    }

    @Test(arguments: [0, 1, -1, Int64.min, Int64.max, nil] as [Int64?])
    func `integers of every width come back as they went`(value: Int64?) async throws {
        let narrow = value.map { Int16(clamping: $0) }
        let middle = value.map { Int32(clamping: $0) }
        let first = try await echo(Statement("SELECT $1, $1::text", [.int16(narrow)])) { try $0.optionalInt16($1) }
        let second = try await echo(Statement("SELECT $1, $1::text", [.int32(middle)])) { try $0.optionalInt32($1) }
        let third = try await echo(Statement("SELECT $1, $1::text", [.int64(value)])) { try $0.optionalInt64($1) }
        #expect(first.value == narrow && first.text == narrow.map(String.init))
        #expect(second.value == middle && second.text == middle.map(String.init))
        #expect(third.value == value && third.text == value.map(String.init))
    }

    @Test(arguments: [true, false, nil])
    func `a boolean comes back as it went`(value: Bool?) async throws {
        let answer = try await echo(Statement("SELECT $1, $1::text", [.bool(value)])) { try $0.optionalBool($1) }
        #expect(answer.value == value)
        #expect(answer.text == value.map { $0 ? "true" : "false" })
    }

    @Test(arguments: [0, -1.5, .infinity, .greatestFiniteMagnitude, .leastNonzeroMagnitude, nil] as [Double?])
    func `a double comes back as it went`(value: Double?) async throws {
        let answer = try await echo(Statement("SELECT $1, NULL::text", [.double(value)])) { try $0.optionalDouble($1) }
        #expect(answer.value == value)
    }

    @Test(
        arguments: [
            (0, "1970-01-01 00:00:00.000000"),
            (1_700_000_000_123_456, "2023-11-14 22:13:20.123456"),
            (-1, "1969-12-31 23:59:59.999999"),
            (.max - 1, "294247-01-10 04:00:54.775806"),
            (.max, "infinity"),
            (.min, "-infinity"),
            (nil, nil),
        ] as [(Int64?, String?)]
    )
    func `an instant comes back as it went`(value: Int64?, text: String?) async throws {
        let statement = Statement(
            """
            SELECT $1, CASE WHEN isfinite($1) THEN to_char($1 AT TIME ZONE 'UTC', 'YYYY-MM-DD HH24:MI:SS.US')
                            ELSE $1::text END
            """,
            [.timestamp(microsecondsSinceUnixEpoch: value)]
        )
        let answer = try await echo(statement) { try $0.optionalTimestamp($1) }
        #expect(answer.value == value)
        #expect(answer.text == text)
    }

    @Test func `an instant before PostgreSQL's range is refused by the server and traps nowhere`() async throws {
        let error = try await postgresError {
            let statement = Statement("SELECT $1, NULL::text", [.timestamp(microsecondsSinceUnixEpoch: .min + 1)])
            _ = try await echo(statement) { try $0.timestamp($1) }
        }
        #expect(error.sqlState?.rawValue == "22008")
    }

    @Test func `the last instants of PostgreSQL, past the end of the Unix count, saturate`() async throws {
        let answer = try await echo(Statement("SELECT '294276-12-31 23:59:59Z'::timestamptz, NULL::text")) {
            try $0.timestamp($1)
        }
        #expect(answer.value == .max)
    }

    @Test func `a zero byte in a text is refused by the server and the connection stays usable`() async throws {
        let error = try await postgresError {
            try await TestDatabase.run { session in
                _ = try session.execute(Statement("SELECT $1", [.text("a\0b")]))
            }
        }
        #expect(error.sqlState?.isOfClass("22") == true)
        #expect(try await TestDatabase.run { try $0.execute(Statement("SELECT 1")).onlyRow.int32(0) } == 1)
    }

    @Test func `a parameter and a statement show no value`() {
        let statement = Statement("SELECT $1", [.text("secret")])
        #expect(!"\(statement)".contains("secret"))
        #expect(!"\(statement.self) \(Parameter.text("secret"))".contains("secret"))
        #expect(!String(reflecting: Parameter.text("secret")).contains("secret"))
    }
}
