// SPDX-License-Identifier: Apache-2.0

import Foundation
package import KafkaClient
package import MockKafka
import TestTools

/// The Kafka of a test: the cluster that `COURIER_TEST_KAFKA` names, or librdkafka's own in this process.
///
/// Nothing else in these tests knows which one it is. Each test has topics and a group of its own.
package struct TestCluster: Sendable {
    package let bootstrapServers: String

    /// Nil when the cluster is one of a broker process.
    package let mock: MockCluster?

    /// Librdkafka's own cluster has so many brokers; a test that `needsMock` gets that one whatever is named.
    package init(brokers: Int = 1, needsMock: Bool = false) throws {
        if !needsMock, let servers = ProcessInfo.processInfo.environment["COURIER_TEST_KAFKA"],
            !servers.isEmpty
        {
            (bootstrapServers, mock) = (servers, nil)
        } else {
            let mock = try MockCluster(brokers: brokers)
            (bootstrapServers, self.mock) = (mock.bootstrapServers, mock)
        }
    }

    /// Replicas of each partition that topics are made with: `COURIER_TEST_KAFKA_REPLICAS`, or one.
    package static var replicas: Int {
        ProcessInfo.processInfo.environment["COURIER_TEST_KAFKA_REPLICAS"].flatMap { Int($0) } ?? 1
    }

    package var configuration: KafkaConfiguration { KafkaConfiguration(bootstrapServers: bootstrapServers) }

    /// A topic without `replicas` has one copy of each partition, which a broker takes away with it.
    package func makeTopic(_ name: String, partitions: Int, hasReplicas: Bool = true) async throws {
        if let mock {
            try mock.createTopic(name, partitions: partitions)
        } else {
            try await KafkaAdmin.createTopic(
                name,
                partitions: partitions,
                replicas: hasReplicas ? Self.replicas : 1,
                settings: hasReplicas ? [:] : ["min.insync.replicas": "1"],
                configuration: configuration
            )
        }
        try await eventually("the topic has its partitions") {
            (try? await KafkaAdmin.partitionCount(of: name, configuration: configuration)) == partitions
        }
    }

    package func close() {
        mock?.close()
    }
}

/// The topics of one test.
package struct TestTopics: Sendable {
    package let requests: String
    package let receipts: String
    package let deliveries: String
    package let deadLetters: String

    package init(_ name: String) {
        requests = "\(name).requests"
        receipts = "\(name).receipts"
        deliveries = "\(name).deliveries"
        deadLetters = "\(name).dead-letters"
    }
}
