// SPDX-License-Identifier: Apache-2.0

/// The result of a claimed send.
///
/// A class, since it is large, never changes, and is passed from stage to stage.
package final class SendResult: Sendable {
    package let send: SendReference
    package let disposition: SendDisposition

    /// The calls to providers over all claims of the send, except those to misconfigured providers.
    package let attempts: Int16
    package let attempt: Attempt?

    /// The provider that may have the message from before the repetition.
    package let doubtful: String?

    package let refusers: [String]

    /// The price of a message that a provider took; nil if it is unknown.
    package let cost: Cost?

    /// The verification as of the claim, if known.
    package let verification: StoredVerification?

    /// The call to a provider that the event reports.
    package struct Attempt: Sendable, Equatable {
        package let provider: String
        package let messageID: String?

        /// The number of SMS segments; nil on other channels.
        package let segments: Int?
        package let encoding: String?
        package let errorCode: String?

        package init(provider: String, messageID: String?, segments: Int?, encoding: String?, errorCode: String?) {
            self.provider = provider
            self.messageID = messageID
            self.segments = segments
            self.encoding = encoding
            self.errorCode = errorCode
        }
    }

    /// True for a result that may cause an event: an outcome, or a delay before the next attempt.
    package var isTold: Bool {
        if case .retry(let delay) = disposition { delay > .zero } else { disposition.status != nil }
    }

    package init(
        send: SendReference,
        disposition: SendDisposition,
        attempts: Int16,
        attempt: Attempt?,
        doubtful: String? = nil,
        refusers: [String] = [],
        cost: Cost? = nil,
        verification: StoredVerification? = nil
    ) {
        self.verification = verification
        self.send = send
        self.disposition = disposition
        self.attempts = attempts
        self.attempt = attempt
        self.doubtful = doubtful
        self.refusers = refusers
        self.cost = cost
    }
}

/// The end of a send, or its next step.
package enum SendDisposition: Sendable, Equatable {
    case sent

    /// A receipt reports that the message arrived.
    case delivered

    /// No provider took the message, and no further attempt follows.
    case failed(FailureReason)

    /// The message may have been sent or not.
    case unknown(UnknownReason)

    /// The message was surely not handed over, and its deadline is over.
    case expiredUnsent

    /// The message was surely not handed over; another claim retries after the delay.
    case retry(after: Duration)

    /// The message may have been sent or not; it is handed over once more, with the same code.
    case repeatOnce

    package enum FailureReason: String, Sendable, CaseIterable {
        case providerRefused = "provider_refused"
        case providerUnavailable = "provider_unavailable"

        /// The routes name no provider for the channel or the region.
        case noRoute = "no_route"
        case fraudBlocked = "fraud_blocked_by_provider"

        case optedOut = "opted_out"
    }

    package enum UnknownReason: String, Sendable, CaseIterable {
        /// The provider's answer was lost.
        case timeout

        /// The worker died between marking the send and recording its outcome.
        case workerLost = "worker_lost"
    }

    package var sendState: String {
        switch self {
        case .sent: "sent"
        case .delivered: "delivered"
        case .failed, .expiredUnsent: "failed"
        case .unknown: "unknown"
        case .retry, .repeatOnce: "pending"
        }
    }

    var status: DeliveryStatus? {
        switch self {
        case .sent: .sent
        case .delivered: .delivered
        case .failed: .failed
        case .unknown: .unknown
        case .expiredUnsent: .expiredUnsent
        case .retry, .repeatOnce: nil
        }
    }

    var reason: EventReason? {
        switch self {
        case .failed(let reason): .failed(reason)
        case .unknown(let reason): .unknown(reason)
        case .expiredUnsent: .expiredUnsent(.deadline)
        case .sent, .delivered, .retry, .repeatOnce: nil
        }
    }

    var rule: String {
        switch self {
        case .sent, .repeatOnce: "send"
        case .delivered: "receipt"
        case .failed, .unknown, .retry: "routes"
        case .expiredUnsent: "time.deadline"
        }
    }

    /// False for a result after which the message is tried again.
    package var isFinal: Bool {
        switch self {
        case .sent, .delivered, .failed, .unknown, .expiredUnsent: true
        case .retry, .repeatOnce: false
        }
    }

    /// True if a provider has, or may have, the message.
    package var mayHaveLeft: Bool {
        switch self {
        case .sent, .delivered, .unknown, .repeatOnce: true
        case .failed, .expiredUnsent, .retry: false
        }
    }

    /// True if the send is not counted in the person's sends and resend window, since the message surely never left.
    ///
    /// Otherwise a person who corrects a number or requests again would wait for a message that does not exist, and
    /// longer each time. Limits against abuse counted the request at its admission and still do.
    var isRefunded: Bool {
        switch self {
        case .failed, .expiredUnsent: true
        case .sent, .delivered, .unknown, .retry, .repeatOnce: false
        }
    }
}
