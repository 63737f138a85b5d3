// SPDX-License-Identifier: Apache-2.0

import Formats

/// A secret of 256 bits that no person types: the token of an e-mail's link, or the secret of a silent push.
///
/// Like a code, it is derived, so every worker computes the same one and none stores it. Its description is hidden.
package struct DerivedSecret: Sendable, Equatable, Redacted {
    /// The purpose of a secret; secrets of different purposes never match.
    package enum Use: String, Sendable, CaseIterable {
        case link
        case push
    }

    /// 43 characters of base64url, hashed like a code.
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
