// SPDX-License-Identifier: Apache-2.0

package import Formats

/// A request for one code to one recipient, with every field valid in shape.
///
/// Its description shows tenant and id only; other fields may identify a person.
package struct VerificationRequest: Sendable, Hashable, Redacted {
    /// The gateway's idempotency key, unique per tenant.
    package let requestID: String

    package let tenant: String
    package let channel: Channel
    package let purpose: Purpose
    package let recipient: Recipient

    /// True if the account has verified this recipient before.
    package let recipientConfirmed: Bool

    package let languageCode: LanguageTag?
    package let appName: AppName?

    /// The account; present for every purpose that requires it.
    package let subject: String?

    package let client: RequestClient?
    package let appVerification: AppVerification?
    package let autofill: RequestAutofill?
    package let actionCode: RequestActionCode?

    /// The time of the person's request, by the gateway's clock; nil if the gateway does not give it.
    package let requestedAt: Timestamp?

    /// The time of the record's first arrival in Kafka, by the producer's or the broker's clock.
    package let arrivedAt: Timestamp?

    /// The time after which nothing may be sent.
    package let deadline: Timestamp?

    package let trace: TraceContext?

    /// The paths of unreadable hints that were left out, such as `client.ip`.
    package let unreadHints: [String]

    /// True if the request is for an e-mail with a link.
    package var hasLink: Bool { channel == .email && actionCode != nil }

    package var description: String { "request \(requestID) of \(tenant)" }

    /// The maximum time by which a gateway's clock may be ahead of the database's.
    package static let allowedClockSkew: Duration = .seconds(300)

    /// True if the request's time is further ahead of the database's clock than allowed.
    ///
    /// It is the gateway's time, or the record's if the gateway gives none.
    package func isFromFuture(at now: Timestamp) -> Bool {
        (requestedAt ?? arrivedAt).map { $0 > now + Self.allowedClockSkew } ?? false
    }

    /// The time of the person's request: the gateway's, or else the record's first arrival in Kafka.
    ///
    /// A producer's clock may be slightly ahead, so the record's time is limited to `now`.
    package func asked(before now: Timestamp) -> Timestamp {
        requestedAt ?? min(arrivedAt ?? now, now)
    }
}
