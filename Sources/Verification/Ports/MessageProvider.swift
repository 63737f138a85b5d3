// SPDX-License-Identifier: Apache-2.0

/// One provider of messages for one channel, as the pipeline sees it.
package protocol MessageProvider: Sendable {
    /// The name that the policy's routes use.
    var name: String { get }

    /// The channel of its messages; messages of other channels are never passed to it.
    var channel: Channel { get }

    /// True if it accepts the send's id as an idempotency key, so that a call whose answer was lost may be repeated.
    var isIdempotent: Bool { get }

    /// Hands one message over and returns the outcome.
    ///
    /// Never throws and always returns within `message.callDeadline`: a failure is an outcome. It makes one attempt;
    /// the pipeline decides if another follows.
    func send(_ message: OutboundMessage) async -> ProviderAnswer
}

extension MessageProvider {
    package var channel: Channel { .sms }
    package var isIdempotent: Bool { false }
}

/// The answer to one attempt.
package struct ProviderAnswer: Sendable, Hashable {
    package let outcome: ProviderOutcome

    package let messageID: String?

    /// The number of segments that the provider reports.
    package let segments: Int?

    /// The provider's code or a short constant of ours (`timeout`, `connection_refused`), never the provider's text.
    package let errorCode: String?

    /// The time that the provider requests to wait before the next message.
    package let retryAfter: Duration?

    /// The reason why the provider was not called, which proves nothing about it; nil for an answer of the provider.
    package let untried: Untried?

    /// True if the answer concerns only this message or its recipient, and is no failure of the provider.
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

    /// Nothing was sent, since the message's deadline was over.
    package static let tooLate = ProviderAnswer(.tooLate)

    /// Nothing was sent, since every connection was in use for too long.
    package static let busy = ProviderAnswer(.busy)

    /// Nothing was sent, since this process has no file descriptor left for a connection.
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

/// The outcomes that every provider's answers are mapped to.
package enum ProviderOutcome: String, Sendable, Hashable, CaseIterable {
    case accepted

    /// The provider surely did not take the message, and the cause is the provider or the network.
    case notSent

    /// As `notSent`, because of too many messages: the sender must slow down.
    case throttled

    /// The provider refuses this message or this recipient; another provider may accept it.
    case refused

    /// The recipient cannot be reached by a text message through this provider.
    case impossible

    /// The recipient opted out at the provider, for example by STOP.
    ///
    /// No other provider is called, since another sender would evade the opt-out; the policy may allow it.
    case optedOut

    /// The provider classifies the message as fraud: no other provider is called.
    case fraud

    /// The provider refuses us (credentials, sender) and therefore every message: an operator has to act.
    case misconfigured

    /// The provider may have the message or not.
    case unknown
}

/// The providers' rate limits, shared by the whole fleet.
///
/// A worker takes tokens in chunks, a few times a second, not for each message.
package protocol ProviderRates: Sendable {
    /// Takes tokens of several providers at once, with one grant for each; throws if the database failed.
    func takeTokens(_ wanted: [String: TokenRequest]) async throws -> [String: TokenGrant]
}

/// The number of rate-limit tokens that a worker requests of one provider.
package struct TokenRequest: Sendable, Hashable {
    package let count: Int

    /// The limit in force from now on; it replaces any earlier one.
    package let rate: RateLimit

    package init(count: Int, rate: RateLimit) {
        self.count = count
        self.rate = rate
    }
}

/// The rate-limit tokens that a worker got: each allows one message to be sent within `ProviderTokens.shelfLife`.
package struct TokenGrant: Sendable, Hashable {
    package let count: Int

    /// The time until the next token is available to any worker.
    package let nextAfter: Duration

    package init(count: Int, nextAfter: Duration) {
        self.count = count
        self.nextAfter = nextAfter
    }
}
