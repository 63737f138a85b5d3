// SPDX-License-Identifier: Apache-2.0

/// Joins fields so that different lists of fields give different bytes: each is its length in 4 bytes big-endian, then
/// itself.
///
/// This is the `‖` of hashes and digests. Without the lengths, ("ab", "c") and ("a", "bc") would have the same hash.
package struct FieldJoiner: Sendable {
    package private(set) var bytes: [UInt8] = []

    package init(reserving capacity: Int = 128) {
        bytes.reserveCapacity(capacity)
    }

    package mutating func append(_ field: [UInt8]) {
        appendLength(field.count)
        bytes.append(contentsOf: field)
    }

    package mutating func append(_ text: String) {
        appendLength(text.utf8.count)
        bytes.append(contentsOf: text.utf8)
    }

    /// Appends a number as 4 bytes big-endian.
    package mutating func append(_ number: UInt32) {
        appendLength(4)
        appendBigEndian(number)
    }

    /// Fields are far below 4 GiB; a larger length saturates, since input from outside must not trap.
    private mutating func appendLength(_ count: Int) {
        appendBigEndian(UInt32(clamping: count))
    }

    private mutating func appendBigEndian(_ number: UInt32) {
        withUnsafeBytes(of: number.bigEndian) { bytes.append(contentsOf: $0) }
    }
}
