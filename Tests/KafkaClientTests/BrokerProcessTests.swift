// SPDX-License-Identifier: Apache-2.0

import KafkaClient
import KafkaSupport
import KafkaTools
import Testing

/// Tests features that librdkafka's mock cluster lacks, on the broker of `COURIER_TEST_KAFKA`.
@Suite(.timeLimit(.minutes(3))) struct BrokerProcessTests {
    @Test func `a topic that exists is not an error to create`() async throws {
        let broker = try TestBroker(.external)
        let topic = try await broker.makeTopic(partitions: 2)
        try await KafkaAdmin.createTopic(
            topic,
            partitions: 2,
            replicas: BrokerKind.replicas,
            configuration: broker.configuration()
        )
        #expect(try await KafkaAdmin.partitionCount(of: topic, configuration: broker.configuration()) == 2)
    }

    @Test func `a reader from a time begins with the first record of then`() async throws {
        let broker = try TestBroker(.external)
        let topic = try await broker.makeTopic(partitions: 1)
        for number in 0..<10 {
            let timestamp = Int64(1000 + number * 1000)
            try await broker.send([
                ProducerRecord(topic: topic, key: nil, value: [UInt8(number)], timestamp: timestamp)
            ])
        }
        let records = try await broker.records(of: topic, from: .timestamp(5500))
        #expect(records.map(\.value) == [[5], [6], [7], [8], [9]])
    }
}
