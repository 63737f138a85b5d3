// SPDX-License-Identifier: Apache-2.0

/// What statistics count of an event, beside the record that tells it.
///
/// It goes no further than the worker that decided: a record that another worker publishes has none.
package struct EventSummary: Sendable, Equatable {
    package let status: DeliveryStatus

    /// Of a phone number.
    package let region: Region?
    package let reason: String?

    /// When the request's own record was appended to its topic; nil for what no request of this worker caused.
    package let appendedAt: Timestamp?

    /// Whether it answers a request whose id has come before, by what was decided then.
    package var isRepeat: Bool { reason == Self.repeatReason }

    static let repeatReason = "duplicate_request"

    package init(status: DeliveryStatus, region: Region?, reason: String?, appendedAt: Timestamp?) {
        self.status = status
        self.region = region
        self.reason = reason
        self.appendedAt = appendedAt
    }
}
