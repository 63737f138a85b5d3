// SPDX-License-Identifier: Apache-2.0

import Courier
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

    /// When the record was made; nil when Kafka did not say.
    let timestamp: Timestamp?

    /// How often the record was put back before it came here.
    let redrives: Int

    /// Whether no broker took it whole: key, value and headers are then only the beginning of the record's.
    let isShortened: Bool

    /// How many bytes the record's value had; nil for a tombstone.
    let size: Int?

    private(set) var record: ConsumerRecord

    /// Nil for a record that is no dead letter of ours.
    ///
    /// Headers of an earlier death stand before those of the last.
    init?(_ record: ConsumerRecord) {
        let headers = Headers(InboundRecord(record))
        guard let id = headers["id"], let firstID = headers.firstID, let reason = headers["reason"] else { return nil }
        guard let topic = headers["topic"], let time = headers["time"].flatMap({ Timestamp(rfc3339: $0) }) else {
            return nil
        }
        guard let partition = headers["partition"].flatMap({ Int32($0) }), partition >= 0 else { return nil }
        guard let offset = headers["offset"].flatMap({ Int64($0) }) else { return nil }
        (self.id, self.firstID, self.time, self.reason) = (id, firstID, time, reason)
        (self.topic, self.partition, self.offset) = (topic, partition, offset)
        timestamp = headers["timestamp"].flatMap { Int64($0) }.map { Timestamp(milliseconds: $0) }
        redrives = headers["redrives"].flatMap { Int($0) }.map { min(max($0, 0), 1_000_000) } ?? 0
        isShortened = record.headers.contains { $0.name == "\(Self.prefix)value-bytes" }
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
    /// It keeps its time, so that it is not taken for a fresh one; a record that had none gets that of its death.
    /// `partitions` is how many the topic has now: the key chooses where the old one is gone.
    func redriven(partitions: Int) -> ProducerRecord {
        var headers = record.headers.filter { !$0.name.hasPrefix(Self.prefix) }
        headers.append(RecordHeader(name: "\(Self.prefix)id", value: Array(firstID.utf8)))
        headers.append(RecordHeader(name: "\(Self.prefix)redrives", value: Array(String(redrives + 1).utf8)))
        let made = timestamp.flatMap { $0.microseconds >= 1000 ? $0 : nil } ?? time
        return ProducerRecord(
            topic: topic,
            key: record.key,
            value: record.value,
            headers: headers,
            timestamp: made.microseconds / 1000,
            partition: Int(partition) < partitions ? partition : nil
        )
    }

    static let prefix = "dead-letter-"

    /// The texts of our headers by their names after the prefix, the last of each name.
    private struct Headers {
        let record: InboundRecord

        init(_ record: InboundRecord) {
            self.record = record
        }

        subscript(name: String) -> String? {
            record.header(prefix + name).flatMap(Self.text)
        }

        var firstID: String? {
            record.headers.first { $0.name == "\(prefix)id" }?.value.flatMap(Self.text)
        }

        private static func text(_ bytes: [UInt8]) -> String? {
            (1...300).contains(bytes.count) ? String(validating: bytes, as: UTF8.self) : nil
        }
    }
}
