// SPDX-License-Identifier: Apache-2.0

/// One provider of text messages, as the pipeline sees it.
package protocol MessageProvider: Sendable {
    /// The name by which the policy's routes call it.
    var name: String { get }

    /// Hands one message over and says what is known of it.
    ///
    /// Never throws and always returns within `message.callDeadline`: what went wrong is an outcome. It makes one
    /// attempt; whether another follows is the pipeline's decision.
    func send(_ message: OutboundMessage) async -> ProviderAnswer
}

/// A rendered message for one attempt.
///
/// It describes itself by its send only: the text holds the code.
package struct OutboundMessage: Sendable, Redacted {
    /// The reference given to the provider, and its idempotency key where it takes one.
    package let sendID: SendID
    package let recipient: PhoneNumber
    package let text: String

    /// What is left of the code's validity: a provider that can drops the message afterwards.
    package let validity: Duration

    /// How long the whole call may take, from the connection to the answer's last byte.
    package let callDeadline: Duration

    package init(
        sendID: SendID,
        recipient: PhoneNumber,
        text: String,
        validity: Duration,
        callDeadline: Duration
    ) {
        self.sendID = sendID
        self.recipient = recipient
        self.text = text
        self.validity = validity
        self.callDeadline = callDeadline
    }

    package var description: String { "message \(sendID)" }
}

/// What one attempt came to.
package struct ProviderAnswer: Sendable, Hashable {
    package let outcome: ProviderOutcome

    /// The provider's own id of the message.
    package let messageID: String?

    /// The number of parts the provider says it split the message into.
    package let segments: Int?

    /// The provider's code or a short constant of ours (`timeout`, `connection_refused`): never its text.
    package let errorCode: String?

    /// How long the provider asks to wait before the next message.
    package let retryAfter: Duration?

    package init(
        _ outcome: ProviderOutcome,
        messageID: String? = nil,
        segments: Int? = nil,
        errorCode: String? = nil,
        retryAfter: Duration? = nil
    ) {
        self.outcome = outcome
        self.messageID = messageID
        self.segments = segments
        self.errorCode = errorCode
        self.retryAfter = retryAfter
    }
}

/// The taxonomy that every provider's answers are mapped to.
package enum ProviderOutcome: String, Sendable, Hashable, CaseIterable {
    /// The provider has the message.
    case accepted

    /// The provider surely did not take the message, and the cause lies with it or the network.
    case notSent

    /// As `notSent`, because of too many messages: slow down first.
    case throttled

    /// The provider refuses this message or this recipient; another provider may take it.
    case refused

    /// The recipient cannot be reached by a text message through this provider.
    case impossible

    /// The provider takes the message for fraud: nobody else is asked.
    case fraud

    /// The provider refuses us (credentials, sender), so every message: an operator has to act.
    case misconfigured

    /// Nobody can know whether the provider has the message.
    case unknown
}
