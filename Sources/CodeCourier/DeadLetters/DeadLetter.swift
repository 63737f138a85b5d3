// SPDX-License-Identifier: Apache-2.0

import Crypto
import Formats
import KafkaClient
import Verification

/// A record of the dead letter topic, with the facts in its `dead-letter-` headers.
///
/// Its description is its id: key, value and headers may hold a phone number.
struct DeadLetter: Redacted {
    /// The id, equal in all copies of this dead letter.
    let id: String

    /// The id of the record's first dead letter, shared by those that follow failed redrives.
    let firstID: String

    /// The time at which the record was found unreadable.
    let time: Timestamp
    let reason: String

    /// The origin of the record.
    let topic: String
    let partition: Int32
    let offset: Int64

    /// The record's own time, before any redrive; nil when Kafka had none.
    let timestamp: Timestamp?

    /// The number of redrives of the record before this dead letter.
    let redrives: Int

    /// True when the record was too large for the brokers: key, value and headers are then truncated.
    let isShortened: Bool

    /// The size of the record's value in bytes; nil for a tombstone.
    let size: Int?

    /// A key that is equal for all dead letters of one record, even if its sender wrote misleading headers.
    var identity: [UInt8] {
        var fields = [RecordField("", firstID), RecordField("", topic), RecordField(name: "", value: record.key)]
        fields.append(RecordField(name: "", value: record.value))
        fields += senderHeaders.map { RecordField(name: $0.name, value: $0.value) }
        return Array(SHA256.hash(data: RecordField.encode(fields)))
    }

    private(set) var record: ConsumerRecord

    /// The number of headers that the record had from its sender.
    private let senderHeaderCount: Int
    private var senderHeaders: ArraySlice<RecordHeader> { record.headers.prefix(senderHeaderCount) }

    /// Parses a record; nil when it is no dead letter of ours.
    ///
    /// A record's sender can add headers with any name, so position decides: the headers of a worker come last, those
    /// of a redrive before them.
    init?(_ record: ConsumerRecord) {
        guard let headers = Headers(record.headers), let id = headers["id"], let reason = headers["reason"] else {
            return nil
        }
        guard let topic = headers["topic"], let time = headers["time"].flatMap({ Timestamp(rfc3339: $0) }) else {
            return nil
        }
        guard let partition = headers["partition"].flatMap({ Int32($0) }), partition >= 0 else { return nil }
        guard let offset = headers["offset"].flatMap({ Int64($0) }) else { return nil }
        (self.id, self.time, self.reason) = (id, time, reason)
        (self.topic, self.partition, self.offset) = (topic, partition, offset)
        let times = [headers["timestamp"].flatMap { Int64($0) }, headers.redrive?.timestamp]
        timestamp = times.compactMap { $0 }.min().map { Timestamp(milliseconds: $0) }
        firstID = headers.redrive?.firstID ?? id
        redrives = headers.redrive?.count ?? 0
        senderHeaderCount = headers.senderCount
        isShortened = headers.contains("value-bytes")
        size = record.value.map { value in max(value.count, headers["value-bytes"].flatMap { Int($0) } ?? 0) }
        self.record = record
    }

    var description: String { "dead letter \(id)" }

    /// A copy with only as much of its record as a list shows, to save memory: a record may be a megabyte.
    func listed(withValue: Bool) -> DeadLetter {
        var letter = self
        letter.record = ConsumerRecord(
            topic: record.topic,
            partition: record.partition,
            offset: record.offset,
            timestamp: record.timestamp,
            key: record.key.map { _ in [] },
            value: withValue ? record.value : nil,
            headers: []
        )
        return letter
    }

    /// The original record for its original topic, with headers that mark the redrive.
    ///
    /// It keeps its time, so that it does not count as fresh; a record without one gets the time of its dead letter. A
    /// header holds the time too, because brokers with `message.timestamp.type=LogAppendTime` replace it. `partitions`
    /// is the topic's current number of partitions: if the original partition no longer exists, the key selects one.
    func redriven(partitions: Int) -> ProducerRecord {
        let made = (timestamp.flatMap { $0.microseconds >= 1000 ? $0 : nil } ?? time).microseconds / 1000
        let added = zip(Headers.ofRedrive, [firstID, String(redrives + 1), String(made)])
        return ProducerRecord(
            topic: topic,
            key: record.key,
            value: record.value,
            headers: senderHeaders + added.map { RecordHeader(name: $0, value: Array($1.utf8)) },
            timestamp: made,
            partition: Int(partition) < partitions ? partition : nil
        )
    }

    static let prefix = "dead-letter-"

    /// The headers of a dead letter by their writers: sender, redrive, worker, in this order.
    private struct Headers {
        /// The headers of the worker that found the record unreadable.
        private let added: ArraySlice<RecordHeader>

        /// The headers that a redrive adds.
        static let ofRedrive = ["id", "redrives", "timestamp"].map { prefix + $0 }

        /// The headers of the previous redrive; nil when there was none.
        let redrive: Redrive?

        struct Redrive {
            let firstID: String
            let count: Int

            /// Milliseconds since 1970; nil from a release that did not write the header.
            let timestamp: Int64?

            let headerCount: Int
        }

        let senderCount: Int

        /// Splits headers; nil without the id with which a worker's headers begin.
        init?(_ headers: [RecordHeader]) {
            guard let start = headers.lastIndex(where: { $0.name == "\(prefix)id" }) else { return nil }
            added = headers[start...]
            redrive = Self.redrive(headers[..<start].suffix(3)) ?? Self.redrive(headers[..<start].suffix(2))
            senderCount = start - (redrive?.headerCount ?? 0)
        }

        subscript(name: String) -> String? {
            added.last { $0.name == prefix + name }?.value.flatMap(Self.text)
        }

        func contains(_ name: String) -> Bool { added.contains { $0.name == prefix + name } }

        /// Parses the headers of a redrive; nil for other headers.
        private static func redrive(_ headers: ArraySlice<RecordHeader>) -> Redrive? {
            guard headers.count >= 2, headers.map(\.name) == Array(ofRedrive.prefix(headers.count)) else { return nil }
            let texts = headers.compactMap { $0.value.flatMap(text) }
            guard texts.count == headers.count, let count = Int(texts[1]), count > 0 else { return nil }
            return Redrive(
                firstID: texts[0],
                count: min(count, 1_000_000),
                timestamp: texts.dropFirst(2).first.flatMap { Int64($0) },
                headerCount: headers.count
            )
        }

        private static func text(_ bytes: [UInt8]) -> String? {
            (1...300).contains(bytes.count) ? String(validating: bytes, as: UTF8.self) : nil
        }
    }
}
