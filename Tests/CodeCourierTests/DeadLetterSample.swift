// SPDX-License-Identifier: Apache-2.0

import Courier
import Formats
import KafkaClient
import TestSupport
import Verification

@testable import CodeCourier

/// Records of a dead letter topic, made as workers make them.
enum DeadLetterSample {
    /// The dead letter for a record that a worker cannot parse.
    static func record(
        _ value: String? = "{",
        topic: String = "requests",
        partition: Int32 = 0,
        offset: Int64 = 0,
        reason: DeadLetterReason = .notJSON,
        made: Timestamp? = .test,
        died: Timestamp = .test + .seconds(1),
        headers: [RecordHeader] = []
    ) -> ProducerRecord {
        let inbound = InboundRecord(
            topic: topic,
            partition: partition,
            offset: offset,
            timestamp: made,
            key: Array("key".utf8),
            value: value.map { Array($0.utf8) },
            headers: headers.map { RecordField(name: $0.name, value: $0.value) }
        )
        let letter = OutboxRecord.deadLetter(inbound, reason: reason, at: died)
        return ProducerRecord(
            topic: "dead-letters",
            key: letter.key,
            value: letter.value,
            headers: letter.headers.map { RecordHeader(name: $0.name, value: $0.value) }
        )
    }

    /// The shortened dead letter for a record whose value of `bytes` bytes no broker accepts.
    static func shortened(_ record: ProducerRecord, bytes: Int) -> ProducerRecord {
        var record = record
        record.headers.append(RecordHeader(name: "dead-letter-value-bytes", value: Array(String(bytes).utf8)))
        return record
    }

    /// The record as a consumer of the topic receives it.
    static func consumed(_ record: ProducerRecord, offset: Int64 = 0) -> ConsumerRecord {
        ConsumerRecord(
            topic: record.topic,
            partition: record.partition ?? 0,
            offset: offset,
            timestamp: record.timestamp ?? Timestamp.test.microseconds / 1000,
            key: record.key,
            value: record.value,
            headers: record.headers
        )
    }

    static func letter(_ record: ProducerRecord) -> DeadLetter? { DeadLetter(consumed(record)) }

    /// The dead letter of a redriven record that failed again.
    static func diedAgain(_ letter: DeadLetter, offset: Int64) -> ProducerRecord {
        let redriven = letter.redriven(partitions: 3)
        return record(
            redriven.value.map { String(decoding: $0, as: UTF8.self) },
            topic: redriven.topic,
            offset: offset,
            made: redriven.timestamp.map { Timestamp(milliseconds: $0) },
            died: letter.time + .seconds(60),
            headers: redriven.headers
        )
    }
}
