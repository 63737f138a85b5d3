// SPDX-License-Identifier: Apache-2.0

import Crypto
import KafkaClient
import Verification

/// A record of the dead letter topic, and what its `dead-letter-` headers say.
///
/// It describes itself by its id: key, value and headers may hold a phone number.
struct DeadLetter: Redacted {
    /// The same in every repeat of this dead letter.
    let id: String

    /// The id of the first dead letter that the record became: records that were redriven and died again share it.
    let firstID: String

    /// When the record was found unreadable.
    let time: Timestamp
    let reason: String

    /// Where the record was read from.
    let topic: String
    let partition: Int32
    let offset: Int64

    /// When the record was made, before any redrive; nil when Kafka did not say.
    let timestamp: Timestamp?

    /// How often the record was put back before it came here.
    let redrives: Int

    /// Whether no broker took it whole: key, value and headers are then only the beginning of the record's.
    let isShortened: Bool

    /// How many bytes the record's value had; nil for a tombstone.
    let size: Int?

    /// The same for all dead letters of one record, whatever its sender wrote into its headers.
    var identity: [UInt8] {
        var fields = [RecordField("", firstID), RecordField("", topic), RecordField(name: "", value: record.key)]
        fields.append(RecordField(name: "", value: record.value))
        fields += senderHeaders.map { RecordField(name: $0.name, value: $0.value) }
        return Array(SHA256.hash(data: RecordField.encode(fields)))
    }

    private(set) var record: ConsumerRecord

    /// The number of headers that the record had as its sender made it.
    private let senderHeaderCount: Int
    private var senderHeaders: ArraySlice<RecordHeader> { record.headers.prefix(senderHeaderCount) }

    /// Nil for a record that is no dead letter of ours.
    ///
    /// A record's sender can give it headers by any name: what a worker wrote stands behind them, and what a redrive wrote
    /// between the two.
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

    /// The same with as much of its record as a list shows, for those who hold many: a record may be a megabyte.
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

    /// The record as it was, for the place where it was, with what tells that it has been here.
    ///
    /// It keeps its time, so that it is not taken for a fresh one; a record that had none gets that of its death. A header
    /// has it, too: brokers with `message.timestamp.type=LogAppendTime` set another.
    /// `partitions` is how many the topic has now: the key chooses where the old one is gone.
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
        /// Headers of the worker that found the record unreadable.
        private let added: ArraySlice<RecordHeader>

        /// The headers that a redrive writes.
        static let ofRedrive = ["id", "redrives", "timestamp"].map { prefix + $0 }

        /// Headers of the redrive that put the record back before; nil when there was none.
        let redrive: Redrive?

        struct Redrive {
            let firstID: String
            let count: Int

            /// Milliseconds since 1970; nil from a release that did not write it.
            let timestamp: Int64?

            /// The number of headers.
            let headerCount: Int
        }

        /// The number of the sender's headers.
        let senderCount: Int

        /// Nil without the id that a worker's headers begin with.
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

        /// The facts in the headers of a redrive; nil for others.
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
