// SPDX-License-Identifier: Apache-2.0

/// A value for one `$n` of a statement, encoded once in PostgreSQL's binary format.
///
/// Its description leaves out the value, so that logs cannot contain it.
package struct Parameter: Sendable, CustomStringConvertible, CustomReflectable {
    /// The object id of the type, sent so that the server never has to infer it.
    let type: UInt32
    /// The value's bytes; nil is NULL.
    let bytes: [UInt8]?

    package var description: String { "Parameter(type: \(type))" }
    package var customMirror: Mirror { Mirror(self, children: ["type": type]) }

    package static func text(_ value: String?) -> Parameter {
        Parameter(type: PostgresType.text.identifier, bytes: value.map { Array($0.utf8) })
    }

    package static func bytes(_ value: [UInt8]?) -> Parameter {
        Parameter(type: PostgresType.bytes.identifier, bytes: value)
    }

    /// Encodes a UUID given as the number that its 16 bytes form, most significant first.
    package static func uuid(_ value: UInt128?) -> Parameter {
        number(value, .uuid)
    }

    package static func int16(_ value: Int16?) -> Parameter {
        number(value, .int16)
    }

    package static func int32(_ value: Int32?) -> Parameter {
        number(value, .int32)
    }

    package static func int64(_ value: Int64?) -> Parameter {
        number(value, .int64)
    }

    package static func bool(_ value: Bool?) -> Parameter {
        number(value.map { $0 ? UInt8(1) : 0 }, .bool)
    }

    package static func double(_ value: Double?) -> Parameter {
        number(value?.bitPattern, .double)
    }

    /// A `timestamptz`; the ends of `Int64` are PostgreSQL's two infinities.
    package static func timestamp(microsecondsSinceUnixEpoch value: Int64?) -> Parameter {
        number(value.map(PostgresInstant.encode), .timestamp)
    }

    private static func number<Value: FixedWidthInteger & BitwiseCopyable>(
        _ value: Value?,
        _ type: PostgresType
    ) -> Parameter {
        Parameter(
            type: type.identifier,
            bytes: value.map { value in
                BinaryWriter.make(size: MemoryLayout<Value>.size) { $0.write(value) }
            }
        )
    }
}
