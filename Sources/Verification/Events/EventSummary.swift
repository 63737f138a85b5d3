// SPDX-License-Identifier: Apache-2.0

/// The values of an event that statistics count.
///
/// Only the deciding worker has it: a record that another worker publishes has none.
package struct EventSummary: Sendable, Equatable {
    package let status: DeliveryStatus

    /// The phone number's region; nil on other channels.
    package let region: Region?
    package let reason: String?

    /// The time when the request's record was appended to its topic; nil if no request of this worker caused the event.
    package let appendedAt: Timestamp?

    /// True if the event repeats the decision of an earlier request with the same id.
    package var isRepeat: Bool { reason == Self.repeatReason }

    static let repeatReason = "duplicate_request"

    package init(status: DeliveryStatus, region: Region?, reason: String?, appendedAt: Timestamp?) {
        self.status = status
        self.region = region
        self.reason = reason
        self.appendedAt = appendedAt
    }
}
