// SPDX-License-Identifier: Apache-2.0

/// The `reason` of a delivery event: the cause of its status, as a word for programs.
///
/// An event has one of these reasons or none. `schemas/kafka/delivery.schema.json` and `docs/reasons.md` list them all.
package enum EventReason: Sendable, Hashable, CaseIterable {
    /// The event repeats the status of a request whose id came again.
    case repeated
    case suppressed(SuppressionReason)
    case rejected(RejectionReason)
    case expiredUnsent(ExpiryReason)
    case failed(SendDisposition.FailureReason)
    case unknown(SendDisposition.UnknownReason)
    case undelivered(UndeliveredReason)

    package static var allCases: [EventReason] {
        var all: [EventReason] = [.repeated]
        all += SuppressionReason.allCases.map(EventReason.suppressed)
        all += RejectionReason.allCases.map(EventReason.rejected)
        all += ExpiryReason.allCases.map(EventReason.expiredUnsent)
        all += SendDisposition.FailureReason.allCases.map(EventReason.failed)
        all += SendDisposition.UnknownReason.allCases.map(EventReason.unknown)
        all += UndeliveredReason.allCases.map(EventReason.undelivered)
        return all
    }

    package var word: String {
        switch self {
        case .repeated: "duplicate_request"
        case .suppressed(let reason): reason.rawValue
        case .rejected(let reason): reason.rawValue
        case .expiredUnsent(let reason): reason.rawValue
        case .failed(let reason): reason.rawValue
        case .unknown(let reason): reason.rawValue
        case .undelivered(let reason): reason.rawValue
        }
    }

    /// The status of events with this reason; nil if any status can have it.
    package var status: DeliveryStatus? {
        switch self {
        case .repeated: nil
        case .suppressed: .suppressed
        case .rejected: .rejected
        case .expiredUnsent: .expiredUnsent
        case .failed: .failed
        case .unknown: .unknown
        case .undelivered: .undelivered
        }
    }
}

/// The reason why a request sends nothing, although its verification is live.
package enum SuppressionReason: String, Sendable, CaseIterable {
    /// The last message is too recent.
    case resendWindow = "resend_window"

    /// The last message has not left yet.
    case sendPending = "send_pending"
}

/// The reason why a message is too late to be sent.
package enum ExpiryReason: String, Sendable, CaseIterable {
    /// The request was too old when it was read.
    case staleRequest = "stale_request"

    /// The request's deadline, or the end of its verification, came before a message left.
    case deadline
}
