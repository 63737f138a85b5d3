// SPDX-License-Identifier: Apache-2.0

import MockKafka
import TestTools
import Testing

@testable import KafkaClient

/// Tests one unavailable broker of three, which the other brokers still report as the leader.
@Suite(.timeLimit(.minutes(2))) struct LeaderTests {
    private static func cluster() async throws -> (TestBroker, MockCluster, topic: String) {
        let broker = try TestBroker(.mock, brokers: 3)
        let topic = try await broker.makeTopic(partitions: 3)
        let mock = try #require(broker.mock)
        for partition in Int32(0)..<3 { try mock.setLeader(of: topic, partition, to: partition + 1) }
        return (broker, mock, topic)
    }

    @Test func `a partition whose leader is away is named as one that cannot be read, until it is back`() async throws {
        let (broker, mock, topic) = try await Self.cluster()
        try mock.moveCoordinator(of: "g", to: 1)
        try await broker.withConsumer(group: "g", topic: topic) { consumer in
            try await consumer.waitForPartitions(3)
            let start = ContinuousClock.now
            try mock.brokerDown(2)
            try await consumer.waitForNotice {
                guard case .cannotRead(let error) = $0 else { return false }
                #expect((error.topic, error.partition) == (topic, 1))
                // A slow client may first learn from the other brokers that the partition has no leader.
                #expect(error.reason == .connectionLost || error.reason == .leaderMissing)
                return true
            }
            // The wait is 10 s on an idle machine.
            #expect(ContinuousClock.now - start < .seconds(60))
            try mock.brokerUp(2)
            try await consumer.waitForNotice { $0 == .readsAgain }
        }
    }

    @Test func `a partition without a leader is named while others are read`() async throws {
        let (broker, mock, topic) = try await Self.cluster()
        try await broker.withConsumer(group: "g", topic: topic) { consumer in
            try await consumer.waitForPartitions(3)
            try mock.setLeader(of: topic, 2, to: nil)
            try await consumer.waitForNotice {
                guard case .cannotRead(let error) = $0 else { return false }
                #expect((error.partition, error.reason) == (2, .leaderMissing))
                return true
            }
            try mock.setLeader(of: topic, 2, to: 1)
            try await consumer.waitForNotice { $0 == .readsAgain }
        }
    }

    @Test func `a partition whose leader is away is named as one that takes nothing, and no other`() async throws {
        let (broker, mock, topic) = try await Self.cluster()
        try await broker.withProducer { producer in
            let records = (Int32(0)..<3).map { ProducerRecord(topic: topic, key: nil, value: [1], partition: $0) }
            #expect(await producer.send(records).areDelivered)
            try mock.brokerDown(2)
            async let results = producer.send(records)
            for await case .stuck(let error) in producer.notices {
                #expect((error.topic, error.partition) == (topic, 1))
                break
            }
            try mock.brokerUp(2)
            #expect(await results.areDelivered)
        }
    }

    @Test func `a key's partition is the one that the client gives it`() async throws {
        let (broker, _, topic) = try await Self.cluster()
        try await broker.withProducer { producer in
            _ = await producer.send([ProducerRecord(topic: topic, key: nil, value: [0])])
            try await eventually("the topic is counted") {
                producer.destination(of: [1], in: topic).partition != nil
            }
            let keys = (0..<50).map { Array("key-\($0)".utf8) }
            let results = await producer.send(keys.map { ProducerRecord(topic: topic, key: $0, value: [1]) })
            for (key, result) in zip(keys, results) {
                guard case .delivered(let partition, _) = result else {
                    Issue.record("\(result)")
                    continue
                }
                #expect(producer.destination(of: key, in: topic).partition == partition)
            }
        }
    }
}
