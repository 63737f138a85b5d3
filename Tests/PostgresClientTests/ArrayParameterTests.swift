// SPDX-License-Identifier: Apache-2.0

import PostgresClient
import Testing

@Suite(.timeLimit(.minutes(1)))
struct ArrayParameterTests {
    /// The elements of an array that `unnest` returns, in order.
    private func unnest<Element: Sendable>(
        _ statement: Statement,
        _ read: @Sendable (Row) throws -> Element?
    ) async throws -> [Element?] {
        try await TestDatabase.run { session in try session.execute(statement).map { try read($0) } }
    }

    @Test(arguments: [[], [nil], ["", "a", nil, "漢字👩‍👩‍👧", "{\"x\",NULL}"]] as [[String?]])
    func `texts`(values: [String?]) async throws {
        #expect(try await unnest(Statement("SELECT unnest($1)", [.texts(values)])) { try $0.optionalText(0) } == values)
    }

    @Test(arguments: [[], [nil], [[], [0, 1, 255], nil]] as [[[UInt8]?]])
    func `byte strings`(values: [[UInt8]?]) async throws {
        let answer = try await unnest(Statement("SELECT unnest($1)", [.bytesArray(values)])) { try $0.optionalBytes(0) }
        #expect(answer == values)
    }

    @Test(arguments: [[], [nil], [0, .max, nil, 1]] as [[UInt128?]])
    func `UUIDs`(values: [UInt128?]) async throws {
        #expect(try await unnest(Statement("SELECT unnest($1)", [.uuids(values)])) { try $0.optionalUUID(0) } == values)
    }

    @Test(arguments: [[], [nil], [0, .min, nil, .max]] as [[Int16?]])
    func `16-bit integers`(values: [Int16?]) async throws {
        #expect(
            try await unnest(Statement("SELECT unnest($1)", [.int16s(values)])) { try $0.optionalInt16(0) } == values
        )
    }

    @Test(arguments: [[], [nil], [0, .min, nil, .max]] as [[Int32?]])
    func `32-bit integers`(values: [Int32?]) async throws {
        #expect(
            try await unnest(Statement("SELECT unnest($1)", [.int32s(values)])) { try $0.optionalInt32(0) } == values
        )
    }

    @Test(arguments: [[], [nil], [0, .min, nil, .max]] as [[Int64?]])
    func `64-bit integers`(values: [Int64?]) async throws {
        #expect(
            try await unnest(Statement("SELECT unnest($1)", [.int64s(values)])) { try $0.optionalInt64(0) } == values
        )
    }

    @Test(arguments: [[], [nil], [true, nil, false]] as [[Bool?]])
    func `booleans`(values: [Bool?]) async throws {
        #expect(try await unnest(Statement("SELECT unnest($1)", [.bools(values)])) { try $0.optionalBool(0) } == values)
    }

    @Test(arguments: [[], [nil], [0.1, nil, -.infinity]] as [[Double?]])
    func `doubles`(values: [Double?]) async throws {
        #expect(
            try await unnest(Statement("SELECT unnest($1)", [.doubles(values)])) { try $0.optionalDouble(0) } == values
        )
    }

    @Test(arguments: [[], [nil], [0, nil, .max, .min, -1, 1_700_000_000_123_456]] as [[Int64?]])
    func `instants`(values: [Int64?]) async throws {
        let answer = try await unnest(Statement("SELECT unnest($1)", [.timestamps(values)])) {
            try $0.optionalTimestamp(0)
        }
        #expect(answer == values)
    }

    @Test func `arrays are usual ones: one dimension from 1, and arrays of columns line up`() async throws {
        let statement = Statement(
            "SELECT array_ndims($1), array_lower($1, 1), array_length($1, 1), array_ndims($2)",
            [.int64s([7, nil]), .texts([])]
        )
        let answer = try await TestDatabase.run { session in
            let row = try session.execute(statement).onlyRow
            return try (0..<4).map { try row.optionalInt32($0) }
        }
        #expect(answer == [1, 1, 2, nil])
    }
}
