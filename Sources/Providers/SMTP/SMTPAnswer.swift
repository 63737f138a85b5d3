// SPDX-License-Identifier: Apache-2.0

import SMTPClient
import Verification

/// Maps a mail server's answers to outcomes.
///
/// A server has taken a message when it answers 2xx to the message's end, and cannot have taken it before that end was
/// sent. A refused address gives the same code whatever the reason: a reader of events must not learn which mailboxes
/// exist.
enum SMTPAnswer {
    /// The scope of a refusal at the recipient or later.
    enum Scope {
        /// The recipient or the message, as far as a single refusal can show.
        case message

        /// This host: several different recipients in a row were refused like this.
        case host
    }

    /// True for a refusal that may concern this host and every message, although it answers the recipient or the
    /// message.
    ///
    /// Servers use the same codes, 5.7.1 above all, both for a sender whose mail they do not relay and for a single
    /// recipient's policy.
    static func isAmbiguous(_ result: SMTPResult) -> Bool {
        guard let reply = result.reply, result.step >= .recipient, reply != 421, !isOfLogin(reply) else { return false }
        switch reply {
        case 400...499: return result.step >= .data && result.enhanced?.target != .recipient
        case 500...599: return result.enhanced?.target == .us
        default: return false
        }
    }

    static func classify(_ result: SMTPResult, messageID: String, scope: Scope = .message) -> ProviderAnswer {
        if let reply = result.reply, (400...599).contains(reply) {
            return refusal(reply, result.enhanced?.target, at: result.step, scope)
        }
        if result.step == .content, let reply = result.reply, (200...299).contains(reply) {
            return ProviderAnswer(.accepted, messageID: messageID)
        }
        let failure = result.failure ?? .malformedAnswer
        if result.isComplete || failure == .cancelled { return ProviderAnswer(.unknown, errorCode: failure.rawValue) }
        switch failure {
        case .tooLate: return .tooLate
        case .busy: return .busy
        case .startTLSUnavailable, .utf8Unavailable, .authorities, .loginDenied, .invalidAddress:
            return ProviderAnswer(.misconfigured, errorCode: failure.rawValue)
        default:
            return ProviderAnswer(.notSent, errorCode: failure.rawValue)
        }
    }

    /// The answer to a 4xx or 5xx, by the refused command (RFC 5321, section 4.2) and the target of the enhanced status
    /// code.
    private static func refusal(
        _ reply: Int,
        _ target: EnhancedStatus.Target?,
        at step: SMTPStep,
        _ scope: Scope
    ) -> ProviderAnswer {
        let code = "smtp_\(reply)"
        switch (step, reply) {
        case (_, 421): return ProviderAnswer(.notSent, errorCode: code)
        case (.sender, 450), (.sender, 452): return ProviderAnswer(.throttled, errorCode: code)
        // A mailbox that is full, busy or grey-listed, or a domain that cannot be found, is not the server's fault.
        case (.recipient, 400...499):
            return ProviderAnswer(.notSent, errorCode: "recipient_deferred", isOfMessage: true)
        case (SMTPStep.data..., 400...499) where target == .recipient:
            return ProviderAnswer(.notSent, errorCode: "recipient_deferred", isOfMessage: true)
        case (SMTPStep.recipient..., _) where isOfLogin(reply):
            return ProviderAnswer(.misconfigured, errorCode: code)
        case (.authentication, 500...599):
            return ProviderAnswer(.misconfigured, errorCode: SMTPFailure.loginDenied.rawValue)
        case (_, 400...499):
            return ProviderAnswer(.notSent, errorCode: code, isOfMessage: step >= .data && scope == .message)
        case (SMTPStep.recipient..., _) where target == .us && scope == .message:
            return refusal(of: .usual(at: step), code: code)
        case (SMTPStep.sender..., _): return refusal(of: target ?? .usual(at: step), code: code)
        default: return ProviderAnswer(.misconfigured, errorCode: code)
        }
    }

    /// True when the server demands a login or rejects the one used (RFC 4954), whoever the recipient is.
    private static func isOfLogin(_ reply: Int) -> Bool {
        [530, 534, 535, 538].contains(reply)
    }

    private static func refusal(of target: EnhancedStatus.Target, code: String) -> ProviderAnswer {
        switch target {
        case .us: ProviderAnswer(.misconfigured, errorCode: code)
        case .recipient: ProviderAnswer(.refused, errorCode: "recipient_refused")
        case .message: ProviderAnswer(.refused, errorCode: "message_refused")
        }
    }
}

extension EnhancedStatus {
    /// The target of a refusal.
    fileprivate enum Target {
        /// Our sender, login or host: every message.
        case us
        case recipient
        case message

        /// The target when the server does not state it.
        static func usual(at step: SMTPStep) -> Target {
            switch step {
            case .recipient: .recipient
            case .data, .content: .message
            default: .us
            }
        }
    }

    /// The target by IANA's registry of enhanced status codes; nil when a code is ambiguous.
    fileprivate var target: Target? {
        switch (subject, detail) {
        case (1, 7), (1, 8): .us  // the sender's address
        case (1, 1...6), (1, 9), (1, 10), (2, _), (4, 1), (4, 4): .recipient
        case (2..., _) where subject == 7 && [2, 13, 17, 18, 19].contains(detail): .recipient
        case (3, 4), (6, _): .message
        case (5, 3): .message  // too many recipients
        case (5, _), (7, _): .us
        default: nil
        }
    }
}
