// SPDX-License-Identifier: Apache-2.0

/// SipHash-2-4 (Aumasson and Bernstein, 2012) of whole words: a fast keyed hash of 64 bits.
///
/// Without the key, values of chosen inputs cannot be predicted, and a hash of all phone numbers cannot be computed.
struct SipHash: Sendable {
    private var (v0, v1, v2, v3): (UInt64, UInt64, UInt64, UInt64)

    /// The number of bytes.
    private var count: UInt64 = 0

    init(key: (UInt64, UInt64)) {
        v0 = key.0 ^ 0x736f_6d65_7073_6575
        v1 = key.1 ^ 0x646f_7261_6e64_6f6d
        v2 = key.0 ^ 0x6c79_6765_6e65_7261
        v3 = key.1 ^ 0x7465_6462_7974_6573
    }

    /// Appends the eight bytes of a word, the lowest first.
    mutating func append(_ word: UInt64) {
        compress(word)
        count &+= 8
    }

    /// The hash of the appended words.
    consuming func finish() -> UInt64 {
        compress(count << 56)
        v2 ^= 0xff
        for _ in 0..<4 { mix() }
        return v0 ^ v1 ^ v2 ^ v3
    }

    private mutating func compress(_ word: UInt64) {
        v3 ^= word
        mix()
        mix()
        v0 ^= word
    }

    private mutating func mix() {
        v0 = v0 &+ v1
        v1 = Self.rotate(v1, 13) ^ v0
        v0 = Self.rotate(v0, 32)
        v2 = v2 &+ v3
        v3 = Self.rotate(v3, 16) ^ v2
        v0 = v0 &+ v3
        v3 = Self.rotate(v3, 21) ^ v0
        v2 = v2 &+ v1
        v1 = Self.rotate(v1, 17) ^ v2
        v2 = Self.rotate(v2, 32)
    }

    private static func rotate(_ value: UInt64, _ bits: UInt64) -> UInt64 { value &<< bits | value &>> (64 &- bits) }
}
