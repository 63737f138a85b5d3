// SPDX-License-Identifier: Apache-2.0

import SMTPClient
import Verification

/// A mail server's answers as outcomes.
///
/// A server has taken a message when it says 2xx to the message's end, and cannot have taken it before that end was
/// sent. An address that is refused gives the same code whatever the reason: who reads events must not learn which
/// mailboxes exist.
enum SMTPAnswer {
    static func classify(_ result: SMTPResult, messageID: String) -> ProviderAnswer {
        if let reply = result.reply, (400...599).contains(reply) { return refusal(reply, at: result.step) }
        if result.step == .content, let reply = result.reply, (200...299).contains(reply) {
            return ProviderAnswer(.accepted, messageID: messageID)
        }
        let failure = result.failure ?? .malformedAnswer
        if result.isComplete || failure == .cancelled { return ProviderAnswer(.unknown, errorCode: failure.rawValue) }
        switch failure {
        case .tooLate: return .tooLate
        case .busy: return .busy
        case .startTLSUnavailable, .authorities, .loginDenied, .invalidAddress:
            return ProviderAnswer(.misconfigured, errorCode: failure.rawValue)
        default:
            return ProviderAnswer(.notSent, errorCode: failure.rawValue)
        }
    }

    /// What a 4xx or 5xx means, by the command that it answers (RFC 5321, section 4.2).
    private static func refusal(_ reply: Int, at step: SMTPStep) -> ProviderAnswer {
        let code = "smtp_\(reply)"
        switch (step, reply) {
        case (_, 421): return ProviderAnswer(.notSent, errorCode: code)
        case (.sender, 450), (.sender, 452): return ProviderAnswer(.throttled, errorCode: code)
        // A mailbox that is full, busy or grey-listed, or a domain that cannot be found, is no fault of the server.
        case (.recipient, 400...499):
            return ProviderAnswer(.notSent, errorCode: "recipient_deferred", isOfRecipient: true)
        // RFC 4954: it wants a login first, or another one, whoever the recipient is.
        case (.recipient, 530), (.recipient, 534), (.recipient, 535), (.recipient, 538):
            return ProviderAnswer(.misconfigured, errorCode: code)
        case (.recipient, _): return ProviderAnswer(.refused, errorCode: "recipient_refused")
        case (.authentication, 500...599):
            return ProviderAnswer(.misconfigured, errorCode: SMTPFailure.loginDenied.rawValue)
        case (_, 400...499): return ProviderAnswer(.notSent, errorCode: code)
        case (.data, _), (.content, _): return ProviderAnswer(.refused, errorCode: "message_refused")
        default: return ProviderAnswer(.misconfigured, errorCode: code)
        }
    }
}
