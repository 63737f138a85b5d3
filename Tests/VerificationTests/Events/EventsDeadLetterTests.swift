// SPDX-License-Identifier: Apache-2.0

import Formats
import TestSupport
import Testing
import Verification

@Suite struct EventsDeadLetterTests {
    private let record = InboundRecord(
        topic: "verification.requests",
        partition: 3,
        offset: 42,
        timestamp: Timestamp(milliseconds: 1_795_176_000_123),
        key: [0xff, 0x00],
        value: [0x7b, 0xff],
        headers: [RecordField(name: "a", value: nil), RecordField("b", "1"), RecordField("b", "2")]
    )

    @Test(arguments: DeadLetterReason.allCases)
    func `a dead letter is the record as it was, with its reason and its place`(reason: DeadLetterReason) {
        let letter = OutboxRecord.deadLetter(record, reason: reason, at: .test)
        #expect(letter.isDeadLetter)
        #expect(letter.key == record.key)
        #expect(letter.value == record.value)
        #expect(Array(letter.headers.prefix(3)) == record.headers)
        #expect(
            Array(letter.headers.dropFirst(3)) == [
                RecordField("dead-letter-id", "\(letter.stream)-1"),
                RecordField("dead-letter-reason", reason.rawValue),
                RecordField("dead-letter-topic", "verification.requests"),
                RecordField("dead-letter-partition", "3"),
                RecordField("dead-letter-offset", "42"),
                RecordField("dead-letter-timestamp", "1795176000123"),
                RecordField("dead-letter-time", "2026-11-20T12:00:00.000Z"),
            ]
        )
    }

    @Test func `a tombstone without key and time stays one`() {
        let bare = InboundRecord(
            topic: "t",
            partition: 0,
            offset: 0,
            timestamp: nil,
            key: nil,
            value: nil,
            headers: []
        )
        let letter = OutboxRecord.deadLetter(bare, reason: .tombstone, at: .test)
        #expect(letter.key == nil)
        #expect(letter.value == nil)
        #expect(!letter.headers.contains { $0.name == "dead-letter-timestamp" })
    }

    @Test func `the id of a dead letter follows from its place`() {
        let first = OutboxRecord.deadLetter(record, reason: .notJSON, at: .test)
        #expect(OutboxRecord.deadLetter(record, reason: .notJSON, at: .test + .seconds(5)).stream == first.stream)
        let next = InboundRecord(
            topic: record.topic,
            partition: record.partition,
            offset: 43,
            timestamp: record.timestamp,
            key: record.key,
            value: record.value,
            headers: record.headers
        )
        #expect(OutboxRecord.deadLetter(next, reason: .notJSON, at: .test).stream != first.stream)
    }
}
