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

/// Dead letters that are too large for their topic.
extension OutboxRecord {
    /// The maximum number of headers of a dead letter; librdkafka exposes none of a record with more than 100,000.
    private static let maximumHeaders = 1000

    /// The maximum size in bytes of the value, and of the sender's headers, in a shortened dead letter.
    private static let largestRoom = 65_536

    /// The size limit for a dead letter that no topic accepts unshortened; nil for any other.
    package var roomInOneRecord: Int? { headers.count > Self.maximumHeaders ? Self.largestRoom : nil }

    /// The next smaller limit that shortens the record; nil if even our own headers alone were too large.
    package func room(below room: Int?) -> Int? {
        guard room != 0 else { return nil }
        var next = room.map { $0 / 4 } ?? Self.largestRoom
        while next >= size { next /= 4 }
        return next
    }

    /// A shortened dead letter: the beginnings of key and value, the last of the sender's headers, and all of ours.
    ///
    /// Two more headers give the original size of the value and the original number of headers.
    package func shortened(to room: Int) -> OutboxRecord {
        let lengths = [
            RecordField("dead-letter-value-bytes", String(value?.count ?? 0)),
            RecordField("dead-letter-headers", String(headers.count - ownHeaders.count)),
        ]
        var headerRoom = room
        let foreign = headers.dropLast(ownHeaders.count).suffix(
            Self.maximumHeaders - ownHeaders.count - lengths.count
        )
        let kept = foreign.reversed().filter { header in
            guard header.size <= min(1024, headerRoom) else { return false }
            headerRoom -= header.size
            return true
        }
        return OutboxRecord(
            stream: stream,
            sequence: sequence,
            isDeadLetter: isDeadLetter,
            key: key.map { Array($0.prefix(min(1024, room))) },
            value: value.map { Array($0.prefix(room)) },
            headers: kept.reversed() + ownHeaders + lengths
        )
    }

    /// Our own headers: they are last, and begin with the last id.
    private var ownHeaders: ArraySlice<RecordField> {
        headers[(headers.lastIndex { $0.name == "dead-letter-id" } ?? headers.endIndex)...]
    }
}

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

    /// The price of the message that a provider took.
    package let cost: Cost?

    /// True if the event repeats the decision of an earlier request with the same id.
    package var isRepeat: Bool { reason == EventReason.repeated.word }

    package init(
        status: DeliveryStatus,
        region: Region?,
        reason: String?,
        appendedAt: Timestamp?,
        cost: Cost? = nil
    ) {
        self.status = status
        self.region = region
        self.reason = reason
        self.appendedAt = appendedAt
        self.cost = cost
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
        self.init(status: status, region: region, reason: reason, appendedAt: nil, cost: Cost(event["cost"]))
    }
}

extension Cost {
    /// The `cost` of an event; nil for anything else.
    fileprivate init?(_ value: JSONValue?) {
        guard case .object(let cost)? = value, case .string(let text)? = cost["amount"], let amount = Money(text),
            case .string(let currency)? = cost["currency"]
        else { return nil }
        self.init(amount, currency)
    }
}
