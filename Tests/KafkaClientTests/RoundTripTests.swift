// SPDX-License-Identifier: Apache-2.0

import KafkaClient
import KafkaTools
import TestTools
import Testing

@Suite(.timeLimit(.minutes(2)))
struct RoundTripTests {
    @Test(arguments: BrokerKind.available)
    func `records come back with their keys, headers and absent values`(_ kind: BrokerKind) async throws {
        let broker = try TestBroker(kind)
        let topic = try await broker.makeTopic(partitions: 1)
        let headers = [
            RecordHeader(name: "ce_id", value: Array("1".utf8)), RecordHeader(name: "absent", value: nil),
            RecordHeader(name: "empty", value: []), RecordHeader(name: "ce_id", value: [0, 255]),
        ]
        try await broker.send([
            ProducerRecord(topic: topic, key: [1, 0, 2], value: [3], headers: headers, timestamp: 1_700_000_000_123),
            ProducerRecord(topic: topic, key: [4], value: nil),
            ProducerRecord(topic: topic, key: nil, value: []),
        ])
        let records = try await broker.withConsumer(group: uniqueName("group-"), topic: topic) { try await $0.read(3) }
        try #require(records.count == 3)
        #expect(records.map(\.offset) == [0, 1, 2])
        #expect(records.map(\.key) == [[1, 0, 2], [4], nil])
        #expect(records.map(\.value) == [[3], nil, []])
        #expect(records[0].headers == headers)
        #expect(records[1].headers.isEmpty)
        #expect(records[0].timestamp == 1_700_000_000_123)
        #expect(records[2].timestamp > 1_700_000_000_123)
    }

    @Test(arguments: BrokerKind.available)
    func `a quiet topic gives a record at once and a busy one large batches`(_ kind: BrokerKind) async throws {
        let broker = try TestBroker(kind)
        let topic = try await broker.makeTopic(partitions: 1)
        try await broker.sendNumbers(0..<1, to: topic, partitions: 1)
        try await broker.withConsumer(group: uniqueName("group-"), topic: topic) { consumer in
            #expect(try await consumer.nextBatch(maximum: 500)?.records.count == 1)
            try await broker.sendNumbers(1..<2001, to: topic, partitions: 1)
            var sizes: [Int] = []
            while sizes.reduce(0, +) < 2000, let batch = try await consumer.nextBatch(maximum: 500) {
                sizes.append(batch.records.count)
            }
            #expect(sizes.allSatisfy { $0 <= 500 })
            #expect(sizes.count < 100)
        }
    }

    @Test(arguments: BrokerKind.available)
    func `a reader from the beginning stops at the end`(_ kind: BrokerKind) async throws {
        let broker = try TestBroker(kind)
        let topic = try await broker.makeTopic(partitions: 4)
        try await broker.sendNumbers(0..<30, to: topic, partitions: 3)
        let past = try await TopicReader.open(configuration: broker.configuration(), topic: topic, from: .beginning)
        var numbers: [Int] = []
        try await eventually("the topic is read") {
            numbers += try await past.next(maximum: 7, within: .milliseconds(100)).compactMap(\.number)
            return await past.reachedEnd
        }
        #expect(numbers.sorted() == Array(0..<30))
        await past.close()
        await past.close()
    }

    @Test(arguments: BrokerKind.available)
    func `a reader from the end sees only what is new`(_ kind: BrokerKind) async throws {
        let broker = try TestBroker(kind)
        let topic = try await broker.makeTopic(partitions: 3)
        try await broker.sendNumbers(0..<27, to: topic, partitions: 3)
        // Some brokers report a wrong end for a batch of several records, so the last batches have one record.
        try await broker.sendNumbers(27..<30, to: topic, partitions: 3)
        let tail = try await TopicReader.open(configuration: broker.configuration(), topic: topic, from: .end)
        #expect(await tail.reachedEnd)
        try await broker.sendNumbers(30..<33, to: topic, partitions: 3)
        var news: [Int] = []
        try await eventually("the new ones are read") {
            news += try await tail.next(maximum: 100, within: .milliseconds(100)).compactMap(\.number)
            return news.count >= 3
        }
        #expect(news.sorted() == [30, 31, 32])
        #expect(try await tail.next(maximum: 100, within: .milliseconds(50)).isEmpty)
        await tail.close()
        await #expect(throws: KafkaError(.closed)) { try await tail.next(maximum: 1, within: .seconds(1)) }
    }

    @Test(arguments: BrokerKind.available)
    func `the partitions of a topic are counted and an unknown topic is an error`(_ kind: BrokerKind) async throws {
        let broker = try TestBroker(kind)
        let topic = try await broker.makeTopic(partitions: 5)
        #expect(try await KafkaAdmin.partitionCount(of: topic, configuration: broker.configuration()) == 5)
        await #expect(throws: KafkaError.self) {
            try await TopicReader.open(
                configuration: KafkaConfiguration(bootstrapServers: "127.0.0.1:1"),
                topic: topic,
                from: .end,
                within: .milliseconds(300)
            )
        }
    }
}
