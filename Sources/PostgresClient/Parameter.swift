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

/// One-dimensional arrays for `unnest`: a whole batch of rows in one statement.
extension Parameter {
    package static func texts(_ values: [String?]) -> Parameter {
        array(of: .text, values, size: { $0.utf8.count }, write: { $0.write($1.utf8) })
    }

    package static func bytesArray(_ values: [[UInt8]?]) -> Parameter {
        array(of: .bytes, values, size: { $0.count }, write: { $0.write($1) })
    }

    package static func uuids(_ values: [UInt128?]) -> Parameter {
        array(of: .uuid, values, size: \.byteCount) { $0.write($1) }
    }

    package static func int16s(_ values: [Int16?]) -> Parameter {
        array(of: .int16, values, size: \.byteCount) { $0.write($1) }
    }

    package static func int32s(_ values: [Int32?]) -> Parameter {
        array(of: .int32, values, size: \.byteCount) { $0.write($1) }
    }

    package static func int64s(_ values: [Int64?]) -> Parameter {
        array(of: .int64, values, size: \.byteCount) { $0.write($1) }
    }

    package static func bools(_ values: [Bool?]) -> Parameter {
        array(of: .bool, values, size: { _ in 1 }, write: { $0.write($1 ? UInt8(1) : 0) })
    }

    package static func doubles(_ values: [Double?]) -> Parameter {
        array(of: .double, values, size: { _ in 8 }, write: { $0.write($1.bitPattern) })
    }

    /// An array of `timestamptz`, each in microseconds since 1970.
    package static func timestamps(_ values: [Int64?]) -> Parameter {
        array(of: .timestamp, values, size: \.byteCount) { $0.write(PostgresInstant.encode($1)) }
    }

    /// Encodes an array in the format of the server's `array_recv`.
    ///
    /// The number of dimensions, has-NULL, the element type, then the length and lower bound of the one dimension, then
    /// each element as its length (−1 for NULL) and bytes. An empty array has no dimension.
    @inline(__always)
    private static func array<Element>(
        of type: PostgresType,
        _ values: [Element?],
        size: (Element) -> Int,
        write: (inout BinaryWriter, Element) -> Void
    ) -> Parameter {
        var total = values.isEmpty ? 12 : 20 + 4 * values.count
        var hasNull = false
        for value in values {
            if let value { total += size(value) } else { hasNull = true }
        }
        let bytes = BinaryWriter.make(size: total) { writer in
            writer.write(Int32(values.isEmpty ? 0 : 1))
            writer.write(Int32(hasNull ? 1 : 0))
            writer.write(type.identifier)
            if values.isEmpty { return }
            writer.write(Int32(clamping: values.count))
            writer.write(Int32(1))
            for value in values {
                guard let value else {
                    writer.write(Int32(-1))
                    continue
                }
                writer.write(Int32(clamping: size(value)))
                write(&writer, value)
            }
        }
        return Parameter(type: type.arrayIdentifier, bytes: bytes)
    }
}

extension FixedWidthInteger {
    fileprivate var byteCount: Int { bitWidth / 8 }
}

/// A built-in type and its array type, by the object ids fixed in PostgreSQL's `pg_type.dat`.
struct PostgresType: Sendable, Hashable {
    let identifier: UInt32
    let arrayIdentifier: UInt32

    static let bool = PostgresType(identifier: 16, arrayIdentifier: 1000)
    static let bytes = PostgresType(identifier: 17, arrayIdentifier: 1001)
    static let int64 = PostgresType(identifier: 20, arrayIdentifier: 1016)
    static let int16 = PostgresType(identifier: 21, arrayIdentifier: 1005)
    static let int32 = PostgresType(identifier: 23, arrayIdentifier: 1007)
    static let text = PostgresType(identifier: 25, arrayIdentifier: 1009)
    static let double = PostgresType(identifier: 701, arrayIdentifier: 1022)
    static let timestamp = PostgresType(identifier: 1184, arrayIdentifier: 1185)
    static let uuid = PostgresType(identifier: 2950, arrayIdentifier: 2951)
}

/// The instants of `timestamptz`: microseconds since 2000-01-01T00:00:00Z, with the two ends of `Int64` as infinities.
enum PostgresInstant {
    /// Microseconds from 1970-01-01 to 2000-01-01.
    static let epoch: Int64 = 946_684_800_000_000

    /// Converts from microseconds since 1970; a time too early for the format becomes one that the server rejects.
    static func encode(_ microseconds: Int64) -> Int64 {
        if microseconds == .min || microseconds == .max { return microseconds }
        let (difference, overflow) = microseconds.subtractingReportingOverflow(epoch)
        return overflow ? .min + 1 : difference
    }

    /// Converts to microseconds since 1970; the last 30 years of PostgreSQL's range (about 294,247) are clamped.
    static func decode(_ value: Int64) -> Int64 {
        if value == .min || value == .max { return value }
        let (sum, overflow) = value.addingReportingOverflow(epoch)
        return overflow ? .max : sum
    }
}

/// Writes the binary form of one value into memory that was sized for it.
// SAFETY: `buffer` is borrowed from `make`, whose closure is the only place where a writer exists; every write is
// checked against the end, so a wrong size yields a shorter value, never a write outside.
@safe struct BinaryWriter: ~Copyable {
    private let buffer: UnsafeMutableRawBufferPointer
    private var count = 0

    private init(_ buffer: UnsafeMutableRawBufferPointer) {
        unsafe self.buffer = unsafe buffer
    }

    /// The bytes that `body` writes, at most `size`.
    static func make(size: Int, _ body: (inout BinaryWriter) -> Void) -> [UInt8] {
        unsafe [UInt8](unsafeUninitializedCapacity: size) { buffer, initializedCount in
            var writer = unsafe BinaryWriter(UnsafeMutableRawBufferPointer(buffer))
            body(&writer)
            initializedCount = writer.count
        }
    }

    mutating func write<Value: FixedWidthInteger & BitwiseCopyable>(_ value: Value) {
        let size = MemoryLayout<Value>.size
        guard unsafe buffer.count - count >= size else { return }
        unsafe buffer.storeBytes(of: value.bigEndian, toByteOffset: count, as: Value.self)
        count += size
    }

    mutating func write(_ bytes: some Collection<UInt8>) {
        guard unsafe buffer.count - count >= bytes.count else { return }
        unsafe UnsafeMutableRawBufferPointer(rebasing: buffer[count...]).copyBytes(from: bytes)
        count += bytes.count
    }
}
