// SPDX-License-Identifier: Apache-2.0

/// Keyed fingerprints are as good as random: their first bytes tell them apart.
extension [UInt8] {
    /// The first eight bytes as a number, missing ones as zeros.
    var leadingWord: UInt64 {
        withUnsafeBytes { bytes in
            guard bytes.count < 8 else { return UInt64(bigEndian: bytes.loadUnaligned(as: UInt64.self)) }
            return bytes.reduce(0) { $0 << 8 | UInt64($1) } << UInt64(8 * (8 - bytes.count))
        }
    }

    /// Whether these bytes come before the others in the order of bytes; nil when they are the same.
    func comesBefore(_ other: [UInt8]) -> Bool? {
        let (word, otherWord) = (leadingWord, other.leadingWord)
        if word != otherWord { return word < otherWord }
        return self == other ? nil : lexicographicallyPrecedes(other)
    }
}

/// A key whose order begins with that of a number.
package protocol RankedKey: Comparable {
    /// The first word of the keyed fingerprint.
    var rank: UInt64 { get }
}
