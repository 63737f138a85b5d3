// SPDX-License-Identifier: Apache-2.0

package import Formats

/// A message whose code was approved.
///
/// Nothing in it names the person.
package struct ConfirmedMessage: Sendable, Hashable {
    package let send: SendID
    package let provider: String

    /// The provider's own id of the message.
    package let messageID: String

    /// The time of the approval, by the database's clock.
    package let approvedAt: Timestamp

    package init(send: SendID, provider: String, messageID: String, approvedAt: Timestamp) {
        self.send = send
        self.provider = provider
        self.messageID = messageID
        self.approvedAt = approvedAt
    }
}

/// A provider that is told which of its messages were used, for its own routes and reports.
package protocol FeedbackProvider: Sendable {
    var name: String { get }

    /// Reports a message as used, in one attempt; a failure is an answer.
    func confirm(_ message: ConfirmedMessage, within deadline: Duration) async -> ProviderAnswer
}

/// The messages whose codes were approved, read by the fleet's one reader of conversions.
package protocol FeedbackLedger: Sendable {
    /// The messages of some providers that were decided from one time up to another, each the newest one of its
    /// verification, that was approved within the given times.
    func confirmed(
        from: Timestamp,
        to: Timestamp,
        by providers: [String],
        approvedAfter: Timestamp,
        upTo: Timestamp
    ) async throws -> [ConfirmedMessage]
}
