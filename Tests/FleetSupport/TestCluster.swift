// SPDX-License-Identifier: Apache-2.0

import Foundation
package import KafkaClient
import KafkaSupport
import KafkaTools
package import MockKafka
import TestTools

/// A test's Kafka: the cluster that `COURIER_TEST_KAFKA` names, or librdkafka's mock cluster in this process.
///
/// The tests do not depend on the kind of the cluster. Each test has its own topics and group.
package struct TestCluster: Sendable {
    package let bootstrapServers: String

    /// Nil for a cluster of broker processes.
    package let mock: MockCluster?

    /// Starts a mock cluster with some brokers, or uses the named cluster unless the test `needsMock`.
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

    /// Number of replicas of new topics: `COURIER_TEST_KAFKA_REPLICAS`, or one.
    package static var replicas: Int {
        ProcessInfo.processInfo.environment["COURIER_TEST_KAFKA_REPLICAS"].flatMap { Int($0) } ?? 1
    }

    package var configuration: KafkaConfiguration { KafkaConfiguration(bootstrapServers: bootstrapServers) }

    /// Creates a topic.
    ///
    /// Without replicas each partition has a single copy, which is unavailable while its broker is down.
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
