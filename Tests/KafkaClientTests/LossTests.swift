// SPDX-License-Identifier: Apache-2.0

import TestTools
import Testing

@testable import KafkaClient

@Suite(.timeLimit(.minutes(2)))
struct LossTests {
    private let partition = TopicPartition(topic: "topic", partition: 0)

    @Test func `what lies before a topic's first offset and was not read is lost`() {
        let cases: [(first: Int64, read: [Int64], lost: Range<Int64>?)] = [
            (12, [12], 10..<12), (12, [], 10..<12), (11, [12], 10..<11), (10, [12], nil), (3, [10, 11], nil),
            (10, [], nil),
        ]
        for (first, read, lost) in cases {
            var watch = LossWatch(committed: [partition: 10])
            for offset in read { _ = watch.see(.record(partition, offset: offset, brokerTime: nil), at: .now) }
            #expect(watch.due(at: .now) == [.askBounds(partition)])
            let notices = lost.map { [WatchAction.notify(.recordsLost(partition, $0))] } ?? []
            #expect(watch.see(.bounds(partition, first..<200), at: .now) == notices, "\(first) \(read)")
            #expect(watch.due(at: .now + .seconds(60)) == [], "told once")
        }
    }

    @Test func `gaps that are no loss are looked at once a second`() {
        var watch = LossWatch()
        let now = ContinuousClock.now
        func read(_ offset: Int64) { _ = watch.see(.record(partition, offset: offset, brokerTime: nil), at: now) }
        read(5)
        #expect(watch.due(at: now) == [], "a group that begins has lost nothing")
        read(7)
        #expect(watch.due(at: now) == [.askBounds(partition)])
        #expect(watch.see(.bounds(partition, 2..<8), at: now) == [])
        for offset in [9, 100, 102] as [Int64] { read(offset) }
        #expect(watch.due(at: now + .milliseconds(900)) == [])
        #expect(watch.due(at: now + .seconds(1)) == [.askBounds(partition)])
        let lost = watch.see(.bounds(partition, 100..<103), at: now + .seconds(1))
        #expect(lost == [.notify(.recordsLost(partition, 10..<100))], "the widest of several")
    }

    @Test func `a question without an answer is asked again`() {
        var watch = LossWatch(committed: [partition: 10])
        let now = ContinuousClock.now
        #expect(watch.see(.bounds(partition, nil), at: now) == [])
        #expect(watch.due(at: now + .seconds(4)) == [])
        #expect(watch.due(at: now + .seconds(5)) == [.askBounds(partition)])
    }

    /// The mock cluster drops old records, since it keeps about 5 MiB per partition.
    @Test func `records that expired between two members are told with their range`() async throws {
        let broker = try TestBroker(.mock)
        let topic = try await broker.makeTopic(partitions: 1)
        let group = uniqueName("group-")
        try await broker.sendNumbers(0..<10, to: topic, partitions: 1)
        try await broker.withConsumer(group: group, topic: topic) { consumer in
            let count = try await consumer.read(10).count
            #expect(count == 10)
        }
        try await Self.sendLarge(100, to: topic, broker)
        try await broker.withConsumer(group: group, topic: topic) { consumer in
            let notice = try await Self.loss(consumer)
            let first = try #require(try await consumer.nextBatch(maximum: 1)?.records.first)
            #expect(notice == .recordsLost(TopicPartition(topic: topic, partition: 0), 10..<first.offset))
            #expect(first.offset > 10)
        }
    }

    @Test func `records that expired while a member was behind are told`() async throws {
        let broker = try TestBroker(.mock)
        let topic = try await broker.makeTopic(partitions: 1)
        try await broker.sendNumbers(0..<1, to: topic, partitions: 1)
        let options = ["queued.max.messages.kbytes": "512", "fetch.message.max.bytes": "200000"]
        let limits = ConsumerLimits(highWater: 2, maximumBytes: 100_000)
        let group = uniqueName("group-")
        try await broker.withConsumer(group: group, topic: topic, limits: limits, options: options) { consumer in
            let one = try await consumer.nextBatch(maximum: 1)
            #expect(one?.records.count == 1)
            try await Self.sendLarge(200, to: topic, broker)
            var offsets: [Int64] = [0]
            while let last = offsets.last, last < 200, let batch = try await consumer.nextBatch(maximum: 10) {
                offsets += batch.records.map(\.offset)
            }
            let gap = try #require(zip(offsets, offsets.dropFirst()).first { $1 > $0 + 1 })
            let notice = try await Self.loss(consumer)
            #expect(notice == .recordsLost(TopicPartition(topic: topic, partition: 0), gap.0 + 1..<gap.1))
        }
    }

    @Test func `a topic with its producers' times is told once`() async throws {
        let broker = try TestBroker(.mock)
        let topic = try await broker.makeTopic(partitions: 2)
        try await broker.sendNumbers(0..<20, to: topic, partitions: 2)
        let notices = try await broker.withConsumer(group: uniqueName("group-"), topic: topic) { consumer in
            let count = try await consumer.read(20).count
            #expect(count == 20)
            await consumer.close()
            return await consumer.notices.reduce(into: [ConsumerNotice]()) { $0.append($1) }
        }
        #expect(notices.filter { $0 == .producerTimes(topic: topic) }.count == 1)
        #expect(!notices.contains { if case .recordsLost = $0 { true } else { false } })
    }

    /// Sends each record in its own batch, so that the cluster can drop the oldest ones.
    private static func sendLarge(_ count: Int, to topic: String, _ broker: TestBroker) async throws {
        let value = [UInt8](repeating: 0x78, count: 100_000)
        try await broker.withProducer { producer in
            for _ in 0..<count {
                let record = ProducerRecord(topic: topic, key: nil, value: value, partition: 0)
                guard case .delivered? = await producer.send([record]).first else {
                    Issue.record("not delivered")
                    return
                }
            }
        }
    }

    private static func loss(_ consumer: KafkaConsumer) async throws -> ConsumerNotice {
        for await notice in consumer.notices {
            if case .recordsLost = notice { return notice }
        }
        throw CancellationError()
    }
}
