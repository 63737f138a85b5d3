// SPDX-License-Identifier: Apache-2.0

/// What a message hands to its recipient, by channel: whoever gives it back has received the message.
package enum Credential: Sendable, Equatable, Redacted {
    case code(VerificationCode)

    /// The token of an e-mail's link, and a code for those who read the mail on another device.
    case link(DerivedSecret, code: VerificationCode)
    case push(DerivedSecret)

    /// Derives the credential of one generation of a verification.
    ///
    /// `codeLength` is that of the code in it, 4 to 10 digits, which a push has none of; nil where it is missing.
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

    /// What a person can type.
    package var code: VerificationCode? {
        switch self {
        case .code(let code), .link(_, let code): code
        case .push: nil
        }
    }

    /// The code beside a link: it has a hash and an end of its own.
    package var shortCode: VerificationCode? {
        guard case .link(_, let code) = self else { return nil }
        return code
    }

    package var description: String { "<credential>" }
}
