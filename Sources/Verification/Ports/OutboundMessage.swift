// SPDX-License-Identifier: Apache-2.0

package import Formats

/// A rendered message for one attempt.
///
/// Its description shows only its send, since the content holds the code. A class, since it is large, never changes,
/// and is passed through many asynchronous functions.
package final class OutboundMessage: Sendable, Redacted {
    /// The reference passed to the provider, and its idempotency key if the provider accepts one.
    package let sendID: SendID
    package let content: MessageContent

    /// The code's remaining validity: a provider that supports it drops the message afterwards.
    package let validity: Duration

    /// The time when that validity ends, equal for every attempt of the send; nil for `validity` from now.
    package let expiresAt: Timestamp?

    /// The time limit of the whole call, from connecting to the last byte of the answer.
    package let callDeadline: Duration

    /// The time after which the message must not be sent any more, even if it waited for a connection.
    package let leaveBy: ContinuousClock.Instant

    /// The trace context of the request, for providers that propagate one.
    package let trace: TraceContext?

    package init(
        sendID: SendID,
        content: MessageContent,
        validity: Duration,
        expiresAt: Timestamp? = nil,
        callDeadline: Duration,
        leaveBy: ContinuousClock.Instant,
        trace: TraceContext? = nil
    ) {
        self.sendID = sendID
        self.content = content
        self.validity = validity
        self.expiresAt = expiresAt
        self.callDeadline = callDeadline
        self.leaveBy = leaveBy
        self.trace = trace
    }

    package var description: String { "message \(sendID)" }
}

package enum MessageContent: Sendable {
    case sms(TextMessage)
    case email(EmailMessage)
    case push(PushMessage)

    package var recipient: Recipient {
        switch self {
        case .sms(let message): .phone(message.recipient)
        case .email(let message): .email(message.recipient)
        case .push(let message): .device(message.device)
        }
    }
}

package struct TextMessage: Sendable {
    package let recipient: PhoneNumber
    package let text: String

    /// The code in the text, for gateways that use their own texts.
    package let code: String?

    /// The ids of the text in a country's registry of templates.
    package let registration: TemplateRegistration?

    package init(
        recipient: PhoneNumber,
        text: String,
        code: String? = nil,
        registration: TemplateRegistration? = nil
    ) {
        self.code = code
        self.recipient = recipient
        self.text = text
        self.registration = registration
    }
}

/// The ids under which a sender and a text are registered, as India's TRAI requires for every SMS (DLT).
package struct TemplateRegistration: Sendable, Hashable {
    package let entityID: String
    package let templateID: String

    package init(entityID: String, templateID: String) {
        self.entityID = entityID
        self.templateID = templateID
    }
}

/// An e-mail with a text part and an HTML part of the same content.
package struct EmailMessage: Sendable {
    package let recipient: EmailAddress
    package let subject: String
    package let text: String
    package let html: String

    /// The display name of the sender.
    package let senderName: String

    package init(recipient: EmailAddress, subject: String, text: String, html: String, senderName: String) {
        self.recipient = recipient
        self.subject = subject
        self.text = text
        self.html = html
        self.senderName = senderName
    }
}

/// A silent push that delivers a secret to an app.
package struct PushMessage: Sendable {
    package let device: DeviceToken

    /// The verification's id, which the app returns together with the secret.
    package let receipt: String
    package let secret: String

    package init(device: DeviceToken, receipt: String, secret: String) {
        self.device = device
        self.receipt = receipt
        self.secret = secret
    }
}
