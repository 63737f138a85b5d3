// SPDX-License-Identifier: Apache-2.0

import Crypto
package import Formats

/// The keys of the scopes that judge a request to a phone number, and whether the account knows the number.
package struct BrakeKeys: Sendable, Equatable {
    /// The IPv4 address, or the first 64 bits of the IPv6 address; nil if the request names none.
    package var client: Int64?
    package var prefix: Int64?
    package var range: Int64?
    package var isConfirmed: Bool

    package init(client: Int64?, prefix: Int64?, range: Int64?, isConfirmed: Bool) {
        self.client = client
        self.prefix = prefix
        self.range = range
        self.isConfirmed = isConfirmed
    }

    package init(of number: PhoneNumber, from address: IPAddress?, isConfirmed: Bool, by hash: BrakeHash) {
        client = address.map(hash.client)
        let digits = BrakeHash.prefixDigits(of: number)
        prefix = hash.prefix(digits)
        range = hash.range(digits)
        self.isConfirmed = isConfirmed
    }
}

/// The keyed hash of prefixes, ranges and addresses: 64 bits of SipHash-2-4 over the scope and the digits or the
/// address.
///
/// A readable prefix beside a masked number, which shows the last four digits, would reveal the whole number. The key
/// is derived from the active fingerprint key, so after a rotation no request matches the old blocks.
package struct BrakeHash: Sendable, Redacted {
    private let key: (UInt64, UInt64)

    package init(_ fingerprint: RingKey) {
        let derived = HKDF<SHA256>.deriveKey(
            inputKeyMaterial: fingerprint.symmetric,
            info: Array("code-courier brake".utf8),
            outputByteCount: 16
        )
        key = derived.withUnsafeBytes {
            (
                UInt64(littleEndian: $0.loadUnaligned(as: UInt64.self)),
                UInt64(littleEndian: $0.loadUnaligned(fromByteOffset: 8, as: UInt64.self))
            )
        }
    }

    package func client(_ address: IPAddress) -> Int64 {
        var hash = SipHash(key: key)
        hash.append(address.bits.value)
        hash.append(UInt64(address.bits.length))
        return Int64(bitPattern: hash.finish())
    }

    package func prefix(of number: PhoneNumber) -> Int64 { prefix(Self.prefixDigits(of: number)) }

    package func range(of number: PhoneNumber) -> Int64 { range(Self.prefixDigits(of: number)) }

    fileprivate func prefix(_ prefixDigits: UInt64) -> Int64 { digits(prefixDigits, scope: 2) }

    /// The hash of a range, which is two digits shorter than a prefix.
    fileprivate func range(_ prefixDigits: UInt64) -> Int64 { digits(prefixDigits / 100, scope: 3) }

    /// The number without its last four digits, or without three if it has fewer than ten.
    ///
    /// An integer keeps all digits, since the first one is not 0.
    fileprivate static func prefixDigits(of number: PhoneNumber) -> UInt64 {
        let digits = number.e164.utf8.withContiguousStorageIfAvailable { bytes in
            var value: UInt64 = 0
            for byte in bytes.dropFirst() { value = value &* 10 &+ UInt64(byte &- UInt8(ascii: "0")) }
            return value / (bytes.count <= 10 ? 1000 : 10_000)
        }
        guard let digits else { preconditionFailure("a native string has its UTF-8 in one piece") }
        return digits
    }

    /// The hash of at most eleven digits, which leave the highest byte for the scope.
    private func digits(_ digits: UInt64, scope: UInt64) -> Int64 {
        var hash = SipHash(key: key)
        hash.append(digits | scope << 56)
        return Int64(bitPattern: hash.finish())
    }

    package var description: String { "<key>" }
}

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
