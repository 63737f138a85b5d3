// SPDX-License-Identifier: Apache-2.0

/// What a column is read as, and which of the server's types may be read so.
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

    /// Whether the binary form of the type with this object id is what the kind decodes.
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

    /// text, char, name, json, unknown, bpchar, varchar: their binary form is their text.
    private static let textual: [UInt32] = [25, 18, 19, 114, 705, 1042, 1043]

    /// Types made by `CREATE TYPE` have ids from here on; those that are read as text are enumerations.
    private static let firstUserType: UInt32 = 16_384
}
