// SPDX-License-Identifier: Apache-2.0

/// One row of an answer; columns are numbered from 0.
///
/// Every read throws `unexpectedResult` when the column is missing, has another type or is malformed. The reads without
/// `optional` in their name also throw when it is NULL.
package struct Row: Sendable {
    let result: QueryResult
    let index: Int

    package func optionalText(_ column: Int) throws(PostgresError) -> String? {
        try unsafe read(column, .text) { bytes in
            // Fast path: nearly all text is ASCII, which needs no UTF-8 validation.
            guard unsafe bytes.allSatisfy({ $0 < 0x80 }) else { return unsafe String(validating: bytes, as: UTF8.self) }
            return unsafe String(decoding: bytes, as: UTF8.self)
        }
    }

    package func text(_ column: Int) throws(PostgresError) -> String {
        try present(optionalText(column), column)
    }

    package func optionalBytes(_ column: Int) throws(PostgresError) -> [UInt8]? {
        try unsafe read(column, .bytes) { bytes in unsafe [UInt8](bytes) }
    }

    package func bytes(_ column: Int) throws(PostgresError) -> [UInt8] {
        try present(optionalBytes(column), column)
    }

    package func optionalUUID(_ column: Int) throws(PostgresError) -> UInt128? {
        try number(column, .uuid)
    }

    package func uuid(_ column: Int) throws(PostgresError) -> UInt128 {
        try present(optionalUUID(column), column)
    }

    package func optionalInt16(_ column: Int) throws(PostgresError) -> Int16? {
        try number(column, .int16)
    }

    package func int16(_ column: Int) throws(PostgresError) -> Int16 {
        try present(optionalInt16(column), column)
    }

    package func optionalInt32(_ column: Int) throws(PostgresError) -> Int32? {
        try number(column, .int32)
    }

    package func int32(_ column: Int) throws(PostgresError) -> Int32 {
        try present(optionalInt32(column), column)
    }

    package func optionalInt64(_ column: Int) throws(PostgresError) -> Int64? {
        try number(column, .int64)
    }

    package func int64(_ column: Int) throws(PostgresError) -> Int64 {
        try present(optionalInt64(column), column)
    }

    package func optionalBool(_ column: Int) throws(PostgresError) -> Bool? {
        let byte: UInt8? = try number(column, .bool)
        return byte.map { $0 != 0 }
    }

    package func bool(_ column: Int) throws(PostgresError) -> Bool {
        try present(optionalBool(column), column)
    }

    package func optionalDouble(_ column: Int) throws(PostgresError) -> Double? {
        let bits: UInt64? = try number(column, .double)
        return bits.map { Double(bitPattern: $0) }
    }

    package func double(_ column: Int) throws(PostgresError) -> Double {
        try present(optionalDouble(column), column)
    }

    /// Reads a `timestamptz` in microseconds since 1970; the infinities are the ends of `Int64`.
    package func optionalTimestamp(_ column: Int) throws(PostgresError) -> Int64? {
        let value: Int64? = try number(column, .timestamp)
        return value.map(PostgresInstant.decode)
    }

    package func timestamp(_ column: Int) throws(PostgresError) -> Int64 {
        try present(optionalTimestamp(column), column)
    }

    @inline(__always)
    private func read<Value>(
        _ column: Int,
        _ kind: ColumnKind,
        _ decode: (UnsafeRawBufferPointer) -> Value?
    ) throws(PostgresError) -> Value? {
        try unsafe result.read(row: index, column: column, as: kind, decode)
    }

    @inline(__always)
    private func number<Value: FixedWidthInteger & BitwiseCopyable>(
        _ column: Int,
        _ kind: ColumnKind
    ) throws(PostgresError) -> Value? {
        try unsafe read(column, kind) { bytes in
            guard bytes.count == MemoryLayout<Value>.size else { return nil }
            return unsafe Value(bigEndian: bytes.loadUnaligned(as: Value.self))
        }
    }

    private func present<Value>(_ value: Value?, _ column: Int) throws(PostgresError) -> Value {
        guard let value else { throw PostgresError(.unexpectedResult, reason: "column \(column) is NULL") }
        return value
    }
}

/// The kinds of values that a column is read as, with the server types that each accepts.
enum ColumnKind: String {
    case bool
    case bytes
    case double
    case int16
    case int32
    case int64
    case text
    case timestamp
    case uuid

    /// True when the kind decodes the binary format of the type with this object id.
    func accepts(_ type: UInt32) -> Bool {
        switch self {
        case .bool: type == PostgresType.bool.identifier
        case .bytes: type == PostgresType.bytes.identifier
        case .double: type == PostgresType.double.identifier
        case .int16: type == PostgresType.int16.identifier
        case .int32: type == PostgresType.int32.identifier
        case .int64: type == PostgresType.int64.identifier
        case .text: Self.textual.contains(type) || type >= Self.firstUserType
        case .timestamp: type == PostgresType.timestamp.identifier
        case .uuid: type == PostgresType.uuid.identifier
        }
    }

    /// text, char, name, json, unknown, bpchar, varchar: their binary format is their text.
    private static let textual: [UInt32] = [25, 18, 19, 114, 705, 1042, 1043]

    /// First object id of types made by `CREATE TYPE`; the ones read as text are enumerations.
    private static let firstUserType: UInt32 = 16_384
}
