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
