// SPDX-License-Identifier: Apache-2.0

import Synchronization
import Testing

@testable import KafkaClient

struct StateTests {
    @Test
    func `the buffer is full by count and by bytes and gives records in order`() {
        var buffer = RecordBuffer(limits: ConsumerLimits(highWater: 4, maximumBytes: 10_000))
        for offset in 0..<4 {
            #expect(!buffer.isFull)
            buffer.append(record(Int64(offset)))
        }
        #expect(buffer.isFull)
        #expect(buffer.firstRecords.mapValues(\.offset) == [TopicPartition(topic: "t", partition: 0): 0])
        #expect(buffer.take(1).map(\.offset) == [0])
        #expect(!buffer.isFull)
        #expect(buffer.take(1).map(\.offset) == [1])
        buffer.append(record(4, size: 20_000))
        #expect(buffer.isFull)
        #expect(buffer.take(9).map(\.offset) == [2, 3, 4])
        #expect(buffer.isEmpty && buffer.bytes == 0 && buffer.take(1).isEmpty)
    }

    @Test
    func `the buffer does not keep what it has handed out, also when it is never empty`() {
        var buffer = RecordBuffer(limits: ConsumerLimits())
        for offset in 0..<32 { buffer.append(record(Int64(offset))) }
        for round in 0..<100 {
            #expect(buffer.take(3).map(\.offset) == (0..<3).map { Int64(3 * round + $0) })
            #expect(buffer.records.count < 2 * buffer.count)
            for place in 0..<3 { buffer.append(record(Int64(32 + 3 * round + place))) }
        }
    }

    @Test
    func `limits are made consistent`() {
        let limits = ConsumerLimits(highWater: 0, maximumBytes: -1)
        #expect((limits.highWater, limits.maximumBytes) == (1, 1))
    }

    @Test
    func `nothing is committed past a record that is not dealt with, until it is`() {
        let partition = TopicPartition(topic: "t", partition: 0)
        var assignment = Assignment()
        assignment.assign([partition])
        let first = assignment.handOut([record(5), record(6), record(7)])
        let place = RecordPlace(batch: first, topic: "t", 0, 6)
        #expect(assignment.commit([first], before: [place]) == .offsets([partition: 6]))
        assignment.settle([first], committed: [partition: 6])
        #expect(!assignment.hasUnsettledBatches)
        let second = assignment.handOut([record(8)])
        let later = RecordPlace(batch: second, topic: "t", 0, 8)
        #expect(assignment.commit([second], before: [later, place]) == .covered)
        #expect(assignment.commit([first], before: [later]) == .offsets([partition: 8]))
        #expect(assignment.commit([first]) == .offsets([partition: 9]))
        // Records handed out before the revocation do not block a new assignment.
        assignment.assign([partition])
        let third = assignment.handOut([record(9)])
        #expect(assignment.commit([third], before: [place]) == .offsets([partition: 10]))
    }

    @Test
    func `a batch is committed only under its own assignment and never backwards`() {
        let partition = TopicPartition(topic: "t", partition: 0)
        var assignment = Assignment()
        assignment.assign([partition])
        let first = assignment.handOut([record(0), record(1)])
        let second = assignment.handOut([record(2)])
        #expect(assignment.commit([second]) == .offsets([partition: 3]))
        assignment.settle([second], committed: [partition: 3])
        #expect(assignment.hasUnsettledBatches)
        #expect(assignment.commit([first]) == .covered)
        assignment.settle([first])
        #expect(!assignment.hasUnsettledBatches)
        let third = assignment.handOut([record(3)])
        assignment.assign([partition])
        #expect(assignment.commit([third]) == .notAssigned)
        assignment.settle([third], committed: [partition: 4])
        #expect(assignment.commit([assignment.handOut([record(2)])]) == .offsets([partition: 3]))
    }

    @Test
    func `batches are committed together, those of an earlier assignment not at all`() {
        let partition = TopicPartition(topic: "t", partition: 0)
        var assignment = Assignment()
        assignment.assign([partition])
        let before = assignment.handOut([record(7)])
        assignment.assign([partition])
        let batches = [before, assignment.handOut([record(1)]), assignment.handOut([record(2)])]
        #expect(assignment.commit(batches) == .offsets([partition: 3]))
        assignment.settle(batches, committed: [partition: 3])
        #expect(!assignment.hasUnsettledBatches)
        #expect(assignment.commit(batches) == .covered)
        assignment.settle([before], committed: [partition: 8])
        #expect(assignment.commit([assignment.handOut([record(4)])]) == .offsets([partition: 5]))
    }

    @Test
    func `an offset that could not be committed goes with the next commit, of whatever partition`() {
        let (first, second) = (TopicPartition(topic: "t", partition: 0), TopicPartition(topic: "t", partition: 1))
        var assignment = Assignment()
        assignment.assign([first, second])
        let failed = assignment.handOut([record(0), record(0, partition: 1)])
        #expect(assignment.commit([failed]) == .offsets([first: 1, second: 1]))
        assignment.settle([failed])
        let next = assignment.handOut([record(1)])
        #expect(assignment.commit([next]) == .offsets([first: 2, second: 1]))
        assignment.settle([next], committed: [first: 2, second: 1])
        #expect(assignment.commit([assignment.handOut([record(2)])]) == .offsets([first: 3]))
    }

    @Test
    func `a backlog hands records over in order and knows who is told of each, once`() {
        var backlog = Backlog()
        let told = Mutex<[Int]>([])
        for number in 1...3 {
            backlog.append(
                OutgoingRecord(produced(UInt8(number))) { _ in told.withLock { $0.append(number) } },
                to: Destination(topic: "t")
            )
        }
        var tokens: [Int] = []
        while let (record, token) = backlog.next {
            tokens.append(token)
            #expect(record.value == [UInt8(tokens.count)])
            backlog.advance()
        }
        #expect(tokens.count == 3 && !backlog.hasWaiting)
        let result = DeliveryResult.delivered(partition: 0, offset: 5)
        backlog.finish(tokens[1])?(result)
        for token in [tokens[1], -1] {
            let isKnown = backlog.finish(token) != nil
            #expect(!isKnown)
        }
        #expect(told.withLock(\.self) == [2])
        backlog.append(
            OutgoingRecord(produced(4)) { _ in told.withLock { $0.append(4) } },
            to: Destination(topic: "t")
        )
        for answer in backlog.finishAll() { answer(result) }
        #expect(told.withLock(\.self) == [2, 1, 3, 4])
        #expect(backlog.isEmpty && backlog.next == nil && !backlog.hasWaiting)
        backlog.append(OutgoingRecord(produced(5)) { _ in }, to: Destination(topic: "t"))
        #expect(backlog.next?.record.value == [5])
    }

    @Test
    func `durations become whole milliseconds`() {
        #expect(Duration.microseconds(1).milliseconds == 1)
        #expect(Duration.zero.milliseconds == 0)
        #expect(Duration.seconds(-3).milliseconds == 0)
        #expect(Duration.seconds(2).milliseconds == 2000)
        #expect(Duration.seconds(Int64.max / 2).milliseconds == 1_000_000_000)
    }

    private func record(_ offset: Int64, size: Int = 1, partition: Int32 = 0) -> ConsumerRecord {
        ConsumerRecord(
            topic: "t",
            partition: partition,
            offset: offset,
            timestamp: -1,
            key: nil,
            value: Array(repeating: 0, count: size),
            headers: []
        )
    }

    private func produced(_ number: UInt8) -> ProducerRecord {
        ProducerRecord(topic: "t", key: nil, value: [number])
    }
}
