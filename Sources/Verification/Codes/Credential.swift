// SPDX-License-Identifier: Apache-2.0

import Formats

/// The secret that a message delivers, by channel: whoever returns it has received the message.
package enum Credential: Sendable, Equatable, Redacted {
    case code(VerificationCode)

    /// The token of an e-mail's link, and a code for people who read the mail on another device.
    case link(DerivedSecret, code: VerificationCode)
    case push(DerivedSecret)

    /// Derives the credential of one generation of a verification; nil if its code needs a length and has none.
    ///
    /// `codeLength` is the number of digits, 4 to 10; it is ignored for a push, which has no code.
    package init?(
        _ channel: Channel,
        verification: VerificationID,
        generation: Int32,
        codeLength: Int?,
        key: RingKey
    ) {
        if channel == .apns {
            self = .push(DerivedSecret(.push, verification: verification, generation: generation, key: key))
            return
        }
        guard let codeLength else { return nil }
        let code = VerificationCode(verification: verification, generation: generation, length: codeLength, key: key)
        guard channel == .email else {
            self = .code(code)
            return
        }
        let token = DerivedSecret(.link, verification: verification, generation: generation, key: key)
        self = .link(token, code: code)
    }

    /// The text whose hash is a verification's `codeHash`.
    package var secret: String {
        switch self {
        case .code(let code): code.digits
        case .link(let secret, _), .push(let secret): secret.text
        }
    }

    /// The code that a person can type; nil for a push.
    package var code: VerificationCode? {
        switch self {
        case .code(let code), .link(_, let code): code
        case .push: nil
        }
    }

    /// The code beside a link, which has a hash and an expiry of its own.
    package var shortCode: VerificationCode? {
        guard case .link(_, let code) = self else { return nil }
        return code
    }

    package var description: String { "<credential>" }
}

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
        fields.append(verification.uuid)
        fields.append(UInt32(bitPattern: generation))
        text = Base64.encodeForURL(key.authenticate(fields))
    }

    package var description: String { "<secret>" }
}
