// SPDX-License-Identifier: Apache-2.0

import KafkaClient
import TestTools
import Testing

/// Tests timing that only a real Apache Kafka has; `make test-kafka` runs these tests.
@Suite(.serialized, .timeLimit(.minutes(3))) struct ApacheKafkaTests {
    @Test func `a topic that is made after the consumer's start is read within 15 s`() async throws {
        let broker = try TestBroker(.external)
        let topic = uniqueName("later-")
        let consumer = try KafkaConsumer(
            configuration: broker.configuration(),
            groupID: uniqueName("group-"),
            topics: [topic]
        )
        async let running: Void = consumer.run()
        // The notice shows that the consumer has looked for its topic in vain.
        try await consumer.waitForNotice { if case .cannotRead = $0 { true } else { false } }
        try await broker.makeTopic(topic, partitions: 2)
        let start = ContinuousClock.now
        try await broker.sendNumbers(0..<4, to: topic, partitions: 2)
        #expect(try await consumer.read(4).compactMap(\.number).sorted() == Array(0..<4))
        #expect(ContinuousClock.now - start < .seconds(15))
        await consumer.close()
        try await running
    }
}
