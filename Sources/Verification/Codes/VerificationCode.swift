// SPDX-License-Identifier: Apache-2.0

import Formats

/// A one-time code, derived from a key, so that every worker computes the same one and none stores it.
///
/// Its description is hidden; only the rendering of a message reads `digits`.
package struct VerificationCode: Sendable, Equatable, Redacted {
    package let digits: String

    /// Creates the fixed code of a test number.
    package init(fixed digits: String) {
        self.digits = digits
    }

    /// Derives the code of one generation of a verification.
    ///
    /// `u` is the first 8 bytes of HMAC-SHA-256(key, "code" ‖ verificationId ‖ generation ‖ counter) for the first
    /// counter with `u` below the largest multiple of 10^length, so that every code is equally likely. The code is `u`
    /// modulo 10^length.
    ///
    /// `length` is the number of digits, 4 to 10.
    package init(verification: VerificationID, generation: Int32, length: Int, key: RingKey) {
        var counter: UInt32 = 0
        while true {
            var fields = FieldJoiner()
            fields.append("code")
            fields.append(verification.uuid)
            fields.append(UInt32(bitPattern: generation))
            fields.append(counter)
            let random = UInt64(truncatingIfNeeded: key.digest(fields).value >> 64)
            if let digits = Self.reduce(random, length: length) {
                self.digits = digits
                return
            }
            counter += 1
        }
    }

    /// A code of `length` digits from 64 random bits; nil for bits above the largest multiple of 10^length.
    package static func reduce(_ random: UInt64, length: Int) -> String? {
        precondition((4...10).contains(length), "a code has 4 to 10 digits")
        let modulus = (0..<length).reduce(UInt64(1)) { power, _ in power * 10 }
        let rest = (UInt64.max % modulus + 1) % modulus
        guard rest == 0 || random <= UInt64.max - rest else { return nil }
        let digits = String(random % modulus)
        return String(repeating: "0", count: length - digits.utf8.count) + digits
    }

    /// The stored hash: HMAC-SHA-256(key, "hash" ‖ verificationId ‖ tenant ‖ purpose ‖ code).
    package func hash(verification: VerificationID, tenant: String, purpose: String, key: RingKey) -> [UInt8] {
        Self.hash(secret: digits, verification: verification, tenant: tenant, purpose: purpose, key: key)
    }

    /// The hash of a code or of any text compared with one: a guess, a link's token, a push secret.
    package static func hash(
        secret: String,
        verification: VerificationID,
        tenant: String,
        purpose: String,
        key: RingKey
    ) -> [UInt8] {
        var fields = FieldJoiner()
        fields.append("hash")
        fields.append(verification.uuid)
        fields.append(tenant)
        fields.append(purpose)
        fields.append(secret)
        return key.authenticate(fields)
    }

    package var description: String { "<code>" }
}
