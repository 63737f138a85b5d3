// SPDX-License-Identifier: Apache-2.0

package import Formats

/// A record to publish, written in the same transaction as the change that it reports.
///
/// Its description shows only its stream and sequence, since a dead letter's value may hold anything. A class, since it
/// is large, never changes, and is passed from stage to stage.
package final class OutboxRecord: Sendable, Equatable, Redacted {
    /// The verification's id, or an id derived from the record that was refused.
    package let stream: UUIDValue
    package let sequence: Int32
    package let isDeadLetter: Bool
    package let key: [UInt8]?
    package let value: [UInt8]?
    package let headers: [RecordField]

    /// The size of key, value and headers in bytes.
    package let size: Int

    /// The event's summary for the statistics of the deciding worker; neither stored nor published.
    package let summary: EventSummary?

    package var description: String { "record \(stream)-\(sequence)" }

    package init(
        stream: UUIDValue,
        sequence: Int32,
        isDeadLetter: Bool,
        key: [UInt8]?,
        value: [UInt8]?,
        headers: [RecordField],
        summary: EventSummary? = nil
    ) {
        self.stream = stream
        self.sequence = sequence
        self.isDeadLetter = isDeadLetter
        self.key = key
        self.value = value
        self.headers = headers
        size = headers.reduce((key?.count ?? 0) + (value?.count ?? 0)) { $0 + $1.size }
        self.summary = summary
    }

    /// The same record with the event id that it gets on this timeline of the database.
    ///
    /// A promoted standby may lack a verification's last events and assign their sequence numbers again: consumers must
    /// not mistake one event for the other. Timeline 1, before any failover, keeps the plain id.
    package func written(on timeline: Int32) -> OutboxRecord {
        if isDeadLetter || timeline == 1 { return self }
        return OutboxRecord(
            stream: stream,
            sequence: sequence,
            isDeadLetter: false,
            key: key,
            value: value,
            headers: headers.map { header in
                header.name == "ce_id" ? RecordField("ce_id", "\(stream)-\(sequence)-\(timeline)") : header
            },
            summary: summary
        )
    }

    /// Compares what is published; `summary` is ignored.
    package static func == (left: OutboxRecord, right: OutboxRecord) -> Bool {
        left.stream == right.stream && left.sequence == right.sequence && left.isDeadLetter == right.isDeadLetter
            && left.key == right.key && left.value == right.value && left.headers == right.headers
    }
}
