// SPDX-License-Identifier: Apache-2.0

/// A rendered message for one attempt.
///
/// It describes itself by its send only: the content holds the code. A class, since it is large, never changes, and goes
/// through many functions that wait.
package final class OutboundMessage: Sendable, Redacted {
    /// The reference given to the provider, and its idempotency key where it takes one.
    package let sendID: SendID
    package let content: MessageContent

    /// What is left of the code's validity: a provider that can drops the message afterwards.
    package let validity: Duration

    /// When that validity ends: the same however often the message is handed over; nil for `validity` from now.
    package let expiresAt: Timestamp?

    /// How long the whole call may take, from the connection to the answer's last byte.
    package let callDeadline: Duration

    /// When the message is too late: from then on it leaves no more, however long it has waited for a connection.
    package let leaveBy: ContinuousClock.Instant

    /// The trace of the request behind it, for providers that pass one on.
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

/// What is handed over, by channel.
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

/// An SMS.
package struct TextMessage: Sendable {
    package let recipient: PhoneNumber
    package let text: String

    /// The code that stands in the text, for gateways that have texts of their own.
    package let code: String?

    /// What a country's registry of templates knows the text by.
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

/// The ids under which a sender and a text are registered, as India's TRAI demands of every SMS (DLT).
package struct TemplateRegistration: Sendable, Hashable {
    package let entityID: String
    package let templateID: String

    package init(entityID: String, templateID: String) {
        self.entityID = entityID
        self.templateID = templateID
    }
}

/// An e-mail in two parts that say the same.
package struct EmailMessage: Sendable {
    package let recipient: EmailAddress
    package let subject: String
    package let text: String
    package let html: String

    /// The name that stands before the sender's address.
    package let senderName: String

    package init(recipient: EmailAddress, subject: String, text: String, html: String, senderName: String) {
        self.recipient = recipient
        self.subject = subject
        self.text = text
        self.html = html
        self.senderName = senderName
    }
}

/// A silent push that hands a secret to an app.
package struct PushMessage: Sendable {
    package let device: DeviceToken

    /// The verification's id: what the app answers with, beside the secret.
    package let receipt: String
    package let secret: String

    package init(device: DeviceToken, receipt: String, secret: String) {
        self.device = device
        self.receipt = receipt
        self.secret = secret
    }
}
