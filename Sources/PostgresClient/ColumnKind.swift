// SPDX-License-Identifier: Apache-2.0

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
