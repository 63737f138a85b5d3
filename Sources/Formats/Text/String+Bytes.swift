// SPDX-License-Identifier: Apache-2.0

import Glibc

/// Compares texts by their UTF-8 bytes: Swift's `==` ignores differences between canonically equivalent texts.
extension String {
    package func hasSameBytes(as other: String) -> Bool {
        utf8.count == other.utf8.count && order(of: other) == 0
    }

    /// True if the bytes sort before the other text's, as in PostgreSQL's collation C.
    package func hasBytes(before other: String) -> Bool {
        let order = order(of: other)
        return order == 0 ? utf8.count < other.utf8.count : order < 0
    }

    /// Compares the bytes up to the shorter length: negative if this text sorts first, 0 if they are equal.
    private func order(of other: String) -> Int32 {
        let order: Int32?? = utf8.withContiguousStorageIfAvailable { own in
            other.utf8.withContiguousStorageIfAvailable { others in
                guard let start = own.baseAddress, let otherStart = others.baseAddress else { return 0 }
                return memcmp(start, otherStart, min(own.count, others.count))
            }
        }
        if let order = order ?? nil { return order }
        let differing = zip(utf8, other.utf8).first { $0 != $1 }
        return differing.map { $0 < $1 ? -1 : 1 } ?? 0
    }
}

/// Joins fields so that different lists of fields give different bytes: each is its length in 4 bytes big-endian, then
/// itself.
///
/// This is the `‖` of hashes and digests. Without the lengths, ("ab", "c") and ("a", "bc") would have the same hash.
package struct FieldJoiner: Sendable {
    /// The bytes while they are few, as for nearly all hashes, without an allocation.
    private var few = InlineArray<256, UInt8>(repeating: 0)
    private var count = 0

    /// All bytes once they are more.
    private var many: [UInt8] = []

    package init(reserving capacity: Int = 0) {
        if capacity > few.count { many.reserveCapacity(capacity) }
    }

    package var bytes: [UInt8] { many.isEmpty ? withUnsafeBytes { Array($0) } : many }

    package func withUnsafeBytes<Result>(_ body: (UnsafeRawBufferPointer) -> Result) -> Result {
        if !many.isEmpty { return many.withUnsafeBytes(body) }
        return few.span.extracting(first: count).withUnsafeBytes(body)
    }

    package mutating func append(_ field: [UInt8]) {
        appendLength(field.count)
        field.withUnsafeBytes { append($0) }
    }

    package mutating func append(_ text: String) {
        appendLength(text.utf8.count)
        text.utf8Span.span.withUnsafeBytes { append($0) }
    }

    /// Appends a text, or an empty field for none.
    package mutating func append(_ text: String?) {
        if let text { append(text) } else { appendLength(0) }
    }

    /// Appends the 16 bytes of an id.
    package mutating func append(_ id: UUIDValue) {
        appendLength(16)
        id.withBytes { append($0) }
    }

    /// Appends a number as 4 bytes big-endian.
    package mutating func append(_ number: UInt32) {
        appendLength(4)
        appendBigEndian(number)
    }

    /// Appends fields joined by a body as one field.
    package mutating func appendJoined(_ body: (inout FieldJoiner) -> Void) {
        var fields = FieldJoiner()
        body(&fields)
        fields.withUnsafeBytes { bytes in
            appendLength(bytes.count)
            append(bytes)
        }
    }

    /// Fields are far below 4 GiB; a larger length saturates, since input from outside must not trap.
    private mutating func appendLength(_ count: Int) {
        appendBigEndian(UInt32(clamping: count))
    }

    private mutating func appendBigEndian(_ number: UInt32) {
        Swift.withUnsafeBytes(of: number.bigEndian) { append($0) }
    }

    private mutating func append(_ bytes: UnsafeRawBufferPointer) {
        if many.isEmpty, bytes.count <= few.count - count {
            let start = count
            var all = few.mutableSpan
            all.withUnsafeMutableBytes { all in
                UnsafeMutableRawBufferPointer(rebasing: all[start...]).copyMemory(from: bytes)
            }
            count += bytes.count
        } else {
            if many.isEmpty { for place in 0..<count { many.append(few[place]) } }
            many.append(contentsOf: bytes)
        }
    }
}

extension Int {
    /// The number with commas between thousands, such as `1,234,567`.
    package var grouped: String {
        let digits = String(magnitude)
        var text = ""
        for (index, digit) in digits.enumerated() {
            if index > 0, (digits.count - index).isMultiple(of: 3) { text.append(",") }
            text.append(digit)
        }
        return self < 0 ? "-\(text)" : text
    }
}
