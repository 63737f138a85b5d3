// SPDX-License-Identifier: Apache-2.0

/// How a send goes on or ends.
package enum SendDisposition: Sendable, Equatable {
    /// A provider has the message.
    case sent

    /// A receipt says that the message, which a provider had taken, has arrived.
    case delivered

    /// Every allowed provider surely refused.
    case failed(FailureReason)

    /// Nobody can know whether the message left.
    case unknown(UnknownReason)

    /// The message was surely not handed over, and its time is over.
    case expiredUnsent

    /// The message was surely not handed over; another claim tries again after the delay.
    case retry(after: Duration)

    /// Nobody can know whether the message left; it is handed over once more, with the same code.
    case repeatOnce

    package enum FailureReason: String, Sendable {
        case providerRefused = "provider_refused"
        case providerUnavailable = "provider_unavailable"
        case fraudBlocked = "fraud_blocked_by_provider"

        /// The person wants no messages.
        case optedOut = "opted_out"
    }

    package enum UnknownReason: String, Sendable {
        /// The answer was lost.
        case timeout

        /// The worker died between the mark and the outcome.
        case workerLost = "worker_lost"
    }

    /// The state that the send's row gets.
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

    var reason: String? {
        switch self {
        case .failed(let reason): reason.rawValue
        case .unknown(let reason): reason.rawValue
        case .expiredUnsent: "deadline"
        case .sent, .delivered, .retry, .repeatOnce: nil
        }
    }

    /// The rule that the event names.
    var rule: String {
        switch self {
        case .sent, .retry, .repeatOnce: "send"
        case .delivered: "receipt"
        case .failed, .unknown: "routes"
        case .expiredUnsent: "time.deadline"
        }
    }

    /// Whether a provider has the message, or may have it.
    var mayHaveLeft: Bool {
        switch self {
        case .sent, .delivered, .unknown, .repeatOnce: true
        case .failed, .expiredUnsent, .retry: false
        }
    }

    /// True where the person's sends and window are as if this send had not been: it surely never left.
    ///
    /// Else a person who corrects a number or presses again would wait for a message that does not exist, and longer each
    /// time. Limits against abuse have counted the request when it was let through, and keep it.
    var isRefunded: Bool {
        switch self {
        case .failed, .expiredUnsent: true
        case .sent, .delivered, .unknown, .retry, .repeatOnce: false
        }
    }
}
