// SPDX-License-Identifier: Apache-2.0

package import Formats

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
    package var isRepeat: Bool { reason == EventReason.repeated.word }

    package init(status: DeliveryStatus, region: Region?, reason: String?, appendedAt: Timestamp?) {
        self.status = status
        self.region = region
        self.reason = reason
        self.appendedAt = appendedAt
    }
}

extension EventSummary {
    /// Reads the summary from an event of another worker; nil for a dead letter.
    package init?(reading record: OutboxRecord) {
        guard !record.isDeadLetter, let value = record.value,
            case .object(let event)? = try? JSONScanner.parse(value),
            case .string(let status)? = event["status"], let status = DeliveryStatus(rawValue: status)
        else { return nil }
        var region: Region?
        if case .object(let recipient)? = event["recipient"], case .string(let code)? = recipient["region"] {
            region = Region(code) ?? .unknown
        }
        var reason: String?
        if case .string(let text)? = event["reason"] { reason = text }
        self.init(status: status, region: region, reason: reason, appendedAt: nil)
    }
}
