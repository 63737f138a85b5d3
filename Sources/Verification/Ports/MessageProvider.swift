// SPDX-License-Identifier: Apache-2.0

/// One provider of messages of one channel, as the pipeline sees it.
package protocol MessageProvider: Sendable {
    /// The name by which the policy's routes call it.
    var name: String { get }

    /// The kind of message it takes; others are never given to it.
    var channel: Channel { get }

    /// Whether it takes the send's id as an idempotency key: then a call whose answer was lost may be repeated.
    var isIdempotent: Bool { get }

    /// Hands one message over and says what is known of it.
    ///
    /// Never throws and always returns within `message.callDeadline`: what went wrong is an outcome. It makes one
    /// attempt; whether another follows is the pipeline's decision.
    func send(_ message: OutboundMessage) async -> ProviderAnswer
}

extension MessageProvider {
    package var channel: Channel { .sms }
    package var isIdempotent: Bool { false }
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

    /// Why nothing was tried, which says nothing of the provider; nil for an answer of its own.
    package let untried: Untried?

    /// Whether it concerns this one message or its recipient, and says nothing against the provider.
    package let isOfMessage: Bool

    package init(
        _ outcome: ProviderOutcome,
        messageID: String? = nil,
        segments: Int? = nil,
        errorCode: String? = nil,
        retryAfter: Duration? = nil,
        isOfMessage: Bool = false
    ) {
        self.outcome = outcome
        self.messageID = messageID
        self.segments = segments
        self.errorCode = errorCode
        self.retryAfter = retryAfter
        self.isOfMessage = isOfMessage
        untried = nil
    }

    /// Nothing left, since the message's time was over first.
    package static let tooLate = ProviderAnswer(.tooLate)

    /// Nothing left, since every connection had another message for too long.
    package static let busy = ProviderAnswer(.busy)

    /// Nothing left, since this process has no file descriptor for a connection.
    package static let withoutFiles = ProviderAnswer(.tooManyFiles)

    package enum Untried: String, Sendable, Hashable {
        case tooLate = "too_late"
        case busy
        case tooManyFiles = "too_many_open_files"
    }

    private init(_ untried: Untried) {
        (outcome, errorCode, self.untried) = (.notSent, untried.rawValue, untried)
        (messageID, segments, retryAfter, isOfMessage) = (nil, nil, nil, false)
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

    /// The recipient wants no messages and has told the provider so, for example by STOP.
    ///
    /// Nobody else is asked, since another sender would evade the person's word; the policy may say otherwise.
    case optedOut

    /// The provider takes the message for fraud: nobody else is asked.
    case fraud

    /// The provider refuses us (credentials, sender), so every message: an operator has to act.
    case misconfigured

    /// Nobody can know whether the provider has the message.
    case unknown
}
