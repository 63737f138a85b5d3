// SPDX-License-Identifier: Apache-2.0

import KafkaSupport
import KafkaTools
import Synchronization
import TestTools
import Testing

@testable import KafkaClient

/// Tests features that only a real Apache Kafka has: transactions, recreated topics, foreign group members.
extension ApacheKafkaTests {
    @Test func `a topic that is missing is told by that, to producers and readers`() async throws {
        let broker = try TestBroker(.external)
        let topic = uniqueName("missing-")
        let read = await #expect(throws: KafkaError.self) {
            _ = try await TopicReader.open(configuration: broker.configuration(), topic: topic, from: .end)
        }
        #expect(read?.reason == .topicMissing)
        #expect(read?.topic == topic)
        try await broker.withProducer(["delivery.timeout.ms": "3000"]) { producer in
            let failure = await producer.send([ProducerRecord(topic: topic, key: nil, value: [1])]).first?.failure
            #expect(failure?.topic == topic)
            #expect([.topicMissing, .timedOut].contains(failure?.reason))
        }
    }

    @Test(arguments: ["LogAppendTime", "CreateTime"]) func `a topic's settings can be read`(type: String) async throws {
        let broker = try TestBroker(.external)
        let topic = uniqueName("times-")
        try await KafkaAdmin.createTopic(
            topic,
            partitions: 1,
            replicas: BrokerKind.replicas,
            settings: ["message.timestamp.type": type],
            configuration: broker.configuration()
        )
        func setting(of topic: String) async throws(KafkaError) -> String? {
            try await KafkaAdmin.setting("message.timestamp.type", of: topic, configuration: broker.configuration())
        }
        #expect(try await setting(of: topic) == type)
        let missing = await #expect(throws: KafkaError.self) { _ = try await setting(of: uniqueName("missing-")) }
        #expect(missing?.reason == .topicMissing)
    }

    @Test func `a topic that is read whole has no lag, whatever transactions left, and an open one hides none`()
        async throws
    {
        let broker = try TestBroker(.external)
        let topic = try await broker.makeTopic(partitions: 1)
        let group = uniqueName("group-")
        let open = try Transaction(broker.configuration())
        defer { open.close() }
        try open.write(5, to: topic, end: .commit)
        try open.write(5, to: topic, end: .abort)
        try open.write(3, to: topic, end: .commit)
        try open.write(4, to: topic, end: .abort)
        try await broker.withConsumer(group: group, topic: topic) { consumer in
            #expect(try await consumer.read(8).count == 8)
            try await expectLag(0, of: consumer)
            try open.write(2, to: topic, end: nil)
            try await broker.sendNumbers(0..<4, to: topic, partitions: 1)
            try await expectLag(6, of: consumer)
        }
        // After a restart the position is known from the group only.
        try await broker.withConsumer(group: group, topic: topic) { consumer in
            try await expectLag(6, of: consumer)
            try await eventually("the lag grows old") {
                await (consumer.lag().first?.age ?? .zero) > .milliseconds(200)
            }
            try open.finish(.abort)
            #expect(try await consumer.read(4).compactMap(\.number) == Array(0..<4))
            try await expectLag(0, of: consumer)
        }
    }

    @Test(arguments: [1, 3]) func `a topic made anew under a reader is read from its first record on`(
        partitions: Int
    ) async throws {
        let broker = try TestBroker(.external)
        let topic = uniqueName("anew-")
        func makeTopic() async throws {
            try await KafkaAdmin.createTopic(
                topic,
                partitions: partitions,
                replicas: BrokerKind.replicas,
                settings: ["message.timestamp.type": "LogAppendTime"],
                configuration: broker.configuration()
            )
        }
        try await makeTopic()
        let group = uniqueName("group-")
        try await broker.withConsumer(group: group, topic: topic) { consumer in
            let old = 4 * partitions
            try await broker.sendNumbers(0..<old, to: topic, partitions: partitions)
            #expect(try await consumer.read(old).count == old)
            // Time for the consumer to learn the topic's id.
            try await Task.sleep(for: .seconds(4))
            try await KafkaAdmin.deleteTopic(topic, configuration: broker.configuration())
            try await makeTopic()
            // More records than the old topic had, so that the old position is valid in the new topic.
            let new = 100..<(100 + 8 * partitions)
            try await broker.sendNumbers(new, to: topic, partitions: partitions)
            let read = Mutex<Set<Int>>([])
            // Reads to the end. Records from the old position on are read again once the consumer detects the new
            // topic.
            async let reading: Void = {
                while let batch = try? await consumer.nextBatch(maximum: 500) {
                    read.withLock { $0.formUnion(batch.records.compactMap(\.number)) }
                    while !Task.isCancelled, case .failed = await consumer.commit([batch]) {}
                }
            }()
            let wanted = Dictionary(uniqueKeysWithValues: (0..<partitions).map { (Int32($0), Int64(8)) })
            var offsets: [Int32: Int64] = [:]
            try await eventually("the new topic is read and committed", within: .seconds(60)) {
                offsets = try await KafkaAdmin.committedOffsets(
                    of: group,
                    topic: topic,
                    partitions: partitions,
                    configuration: broker.configuration()
                )
                return offsets == wanted && read.withLock { $0.isSuperset(of: new) }
            }
            await consumer.close()
            await reading
            #expect(read.withLock(\.self) == Set(new))
            #expect(offsets == wanted)
        }
    }

    @Test func `strangers in a group are named, members of another assignor too`() async throws {
        let broker = try TestBroker(.external)
        let topic = try await broker.makeTopic(partitions: 2)
        let shared = uniqueName("shared-")
        try await Stranger.with(broker.configuration(), group: shared, topic: topic, assignor: "range") {
            try await broker.withConsumer(group: shared, topic: topic) { consumer in
                try await consumer.waitForNotice { $0 == .groupShared(.otherClients) }
            }
        }
        let divided = uniqueName("divided-")
        try await Stranger.with(broker.configuration(), group: divided, topic: topic, assignor: "roundrobin") {
            try await broker.withConsumer(group: divided, topic: topic) { consumer in
                try await consumer.waitForNotice { $0 == .groupShared(.otherProtocol) }
            }
        }
    }

    private func expectLag(_ lag: Int64, of consumer: KafkaConsumer) async throws {
        try await eventually("the lag is \(lag)") { await consumer.lag().map(\.lag) == [lag] }
    }
}
