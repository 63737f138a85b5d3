// SPDX-License-Identifier: Apache-2.0

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
