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
        prefix = hash.prefix(of: number)
        range = hash.range(of: number)
        self.isConfirmed = isConfirmed
    }
}

/// The keyed hash of prefixes, ranges and addresses: 64 bits of SipHash-2-4 over `scope byte ‖ digits or network`.
///
/// Beside a masked number, which ends with the last four digits, a readable prefix would be the whole number. The key
/// is derived from the active fingerprint key, so a new one makes all blocks unknown.
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
        hash.append(1)
        for byte in address.network.utf8 { hash.append(byte) }
        return Int64(bitPattern: hash.finish())
    }

    /// The number less its last four digits, or three of a number with fewer than ten.
    package func prefix(of number: PhoneNumber) -> Int64 { digits(of: number, lessLast: 4, or: 3, scope: 2) }

    /// The number less its last six digits, or five of a number with fewer than ten.
    package func range(of number: PhoneNumber) -> Int64 { digits(of: number, lessLast: 6, or: 5, scope: 3) }

    private func digits(of number: PhoneNumber, lessLast long: Int, or short: Int, scope: UInt8) -> Int64 {
        let digits = number.e164.utf8.dropFirst()
        let count = number.e164.utf8.count - 1
        var hash = SipHash(key: key)
        hash.append(scope)
        for byte in digits.prefix(count - (count < 10 ? short : long)) { hash.append(byte) }
        return Int64(bitPattern: hash.finish())
    }

    package var description: String { "<key>" }
}
