// SPDX-License-Identifier: Apache-2.0

import Glibc

/// A UUID as a 128-bit number: it sorts by its bytes, so UUIDv7 values sort by time.
package struct UUIDValue: Sendable, Hashable, Comparable, CustomStringConvertible {
    package let value: UInt128

    package init(_ value: UInt128) {
        self.value = value
    }

    /// The first 16 bytes of a longer digest, without a version of RFC 9562.
    package init(digest: UnsafeRawBufferPointer) {
        value = UInt128(bigEndian: digest.loadUnaligned(as: UInt128.self))
    }

    /// A UUID from its 36-character form, in either case.
    package init?(_ text: some StringProtocol) {
        let bytes = Array(text.utf8)
        guard bytes.count == 36 else { return nil }
        var value: UInt128 = 0
        for (index, byte) in bytes.enumerated() {
            if Self.isHyphen(at: index) {
                guard byte == UInt8(ascii: "-") else { return nil }
                continue
            }
            guard let digit = Hexadecimal.value(of: byte) else { return nil }
            value = value << 4 | UInt128(digit)
        }
        self.value = value
    }

    /// A UUIDv7 (RFC 9562) of the given millisecond, with 74 random bits.
    package static func version7(
        at time: Timestamp,
        using generator: inout some RandomNumberGenerator
    ) -> UUIDValue {
        let milliseconds = UInt128(clamping: time.microseconds / 1000) & 0xffff_ffff_ffff
        let high = UInt128(generator.next() & 0x0fff)
        let low = UInt128(generator.next() & 0x3fff_ffff_ffff_ffff)
        return UUIDValue(milliseconds << 80 | 0x7 << 76 | high << 64 | 0x2 << 62 | low)
    }

    /// The time in a UUIDv7; nil for other versions.
    package var version7Time: Timestamp? {
        guard value >> 76 & 0xf == 0x7 else { return nil }
        return Timestamp(milliseconds: Int64(truncatingIfNeeded: value >> 80))
    }

    /// The cell in the id's last byte.
    ///
    /// Only ids made by `inCell` have one; in others that byte is random.
    package var cell: UInt8 { UInt8(truncatingIfNeeded: value) }

    /// The same id with a cell in its last byte, which identifies the database that holds the id's row.
    ///
    /// RFC 9562 lets the creator choose these bits of a UUIDv7; time, version, variant and 66 random bits are kept.
    package func inCell(_ cell: UInt8) -> UUIDValue {
        UUIDValue(value & ~0xff | UInt128(cell))
    }

    /// The 16 bytes, most significant first.
    package var bytes: [UInt8] { withBytes { Array($0) } }

    /// Calls a body with `bytes`.
    package func withBytes<Result>(_ body: (UnsafeRawBufferPointer) throws -> Result) rethrows -> Result {
        try withUnsafeBytes(of: value.bigEndian, body)
    }

    package var description: String { characters.span.withUnsafeBytes { String(decoding: $0, as: UTF8.self) } }

    /// Appends the 36 bytes of `description`.
    package func append(to text: inout [UInt8]) {
        characters.span.withUnsafeBytes { text.append(contentsOf: $0) }
    }

    private var characters: InlineArray<36, UInt8> {
        var text = InlineArray<36, UInt8>(repeating: UInt8(ascii: "-"))
        var rest = value
        for place in 0..<36 where !Self.isHyphen(at: place) {
            text[place] = Hexadecimal.digit(UInt8(truncatingIfNeeded: rest >> 124))
            rest <<= 4
        }
        return text
    }

    package func hash(into hasher: inout Hasher) {
        hasher.combine(UInt64(truncatingIfNeeded: value >> 64))
        hasher.combine(UInt64(truncatingIfNeeded: value))
    }

    package static func < (left: UUIDValue, right: UUIDValue) -> Bool {
        left.value < right.value
    }

    private static func isHyphen(at place: Int) -> Bool {
        place == 8 || place == 13 || place == 18 || place == 23
    }
}

/// Random numbers from the kernel, fetched many at once: a system call for each would slow intake noticeably.
///
/// A class, since a copied value would repeat numbers, and nonces are made of them.
package final class KernelRandomness: RandomNumberGenerator {
    private var system = SystemRandomNumberGenerator()
    private var words: [UInt64] = []

    /// getentropy(3) returns up to 256 bytes in full or fails.
    private static let count = 256 / MemoryLayout<UInt64>.size

    package init() {}

    package func next() -> UInt64 {
        if words.isEmpty { words = Self.fetch() }
        return words.popLast() ?? system.next()
    }

    private static func fetch() -> [UInt64] {
        [UInt64](unsafeUninitializedCapacity: count) { buffer, initializedCount in
            let size = count * MemoryLayout<UInt64>.size
            initializedCount = getentropy(buffer.baseAddress, size) == 0 ? count : 0
        }
    }
}
