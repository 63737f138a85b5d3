// SPDX-License-Identifier: Apache-2.0

/// A request for one code to one recipient, of the right shape in every field.
///
/// It describes itself by tenant and id only; the rest may tell who somebody is.
package struct VerificationRequest: Sendable, Hashable, Redacted {
    /// The gateway's idempotency key, unique per tenant.
    package let requestID: String

    package let tenant: String
    package let channel: Channel
    package let purpose: Purpose
    package let recipient: Recipient

    /// Whether the account has proved this recipient before.
    package let recipientConfirmed: Bool

    package let languageCode: LanguageTag?
    package let appName: AppName?

    /// The account; there for every purpose that requires it.
    package let subject: String?

    package let client: RequestClient?
    package let appVerification: AppVerification?
    package let autofill: RequestAutofill?
    package let actionCode: RequestActionCode?

    /// When the person asked, by the gateway's clock; nil when it does not say.
    package let requestedAt: Timestamp?

    /// When the record came to Kafka first, by the clock of its producer or of the broker.
    package let arrivedAt: Timestamp?

    /// After this nothing may be sent.
    package let deadline: Timestamp?

    package let trace: TraceContext?

    /// The fields that nothing could be read from and that are left out, such as `client.ip`.
    package let unreadHints: [String]

    /// Whether it is for an e-mail with a link beside the code.
    package var hasLink: Bool { channel == .email && actionCode != nil }

    package var description: String { "request \(requestID) of \(tenant)" }

    /// How far ahead of the database's clock a gateway's may be.
    package static let allowedClockSkew: Duration = .seconds(300)

    /// Whether the clock that says when the person asked is further ahead of the database's than it may be: the gateway's,
    /// or that of the record where the gateway does not say.
    package func isFromFuture(at now: Timestamp) -> Bool {
        (requestedAt ?? arrivedAt).map { $0 > now + Self.allowedClockSkew } ?? false
    }

    /// When the person asked: as the gateway says, or else when the record came to Kafka.
    ///
    /// A producer's clock may be a little ahead, so what Kafka has is never taken for later than now.
    package func asked(before now: Timestamp) -> Timestamp {
        requestedAt ?? min(arrivedAt ?? now, now)
    }
}
