// SPDX-License-Identifier: Apache-2.0

/// A secret of 256 bits that no person types: the token of an e-mail's link, or what a silent push hands to an app.
///
/// It is derived like a code, so that it is the same in every worker and stored in none, and describes itself as hidden.
package struct DerivedSecret: Sendable, Equatable, Redacted {
    /// What the secret is for; a secret of one use is none of the other.
    package enum Use: String, Sendable, CaseIterable {
        case link
        case push
    }

    /// 43 characters of base64url, which are hashed in a code's place.
    package let text: String

    /// Derives the secret of one generation of a verification: HMAC-SHA-256(key, use ‖ verificationId ‖ generation).
    package init(_ use: Use, verification: VerificationID, generation: Int32, key: RingKey) {
        var fields = FieldJoiner()
        fields.append(use.rawValue)
        fields.append(verification.uuid.bytes)
        fields.append(UInt32(bitPattern: generation))
        text = Base64.encodeForURL(key.authenticate(fields))
    }

    package var description: String { "<secret>" }
}
