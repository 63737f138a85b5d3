// SPDX-License-Identifier: Apache-2.0

/// A record to publish, written with the change that it tells.
///
/// It describes itself by its place: a dead letter's value may hold anything. A class, since it is large, never changes,
/// and goes from stage to stage.
package final class OutboxRecord: Sendable, Equatable, Redacted {
    /// The verification, or an id made from the record that was refused.
    package let stream: UUIDValue
    package let sequence: Int32
    package let isDeadLetter: Bool
    package let key: [UInt8]?
    package let value: [UInt8]?
    package let headers: [RecordField]

    /// Bytes of value and headers.
    package let size: Int

    /// For the statistics of the worker that decided; not part of what is stored and published.
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

    /// The same with the event id that it has where a database writes on this timeline.
    ///
    /// A standby that takes over may lack a verification's last events and give their numbers again: consumers must not
    /// take one for the other. On the first timeline, where nothing was taken over yet, the id is as it is.
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

    /// Whether both are the same record, wherever they come from.
    package static func == (left: OutboxRecord, right: OutboxRecord) -> Bool {
        left.stream == right.stream && left.sequence == right.sequence && left.isDeadLetter == right.isDeadLetter
            && left.key == right.key && left.value == right.value && left.headers == right.headers
    }
}
