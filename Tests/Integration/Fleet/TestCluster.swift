// SPDX-License-Identifier: Apache-2.0

import Foundation
import KafkaClient

/// The Kafka of a test: the cluster that `COURIER_TEST_KAFKA` names, or librdkafka's own in this process.
///
/// Nothing else in these tests knows which one it is. Each test has topics and a group of its own.
struct TestCluster: Sendable {
    let bootstrapServers: String
    private let mock: MockCluster?

    init() throws {
        if let servers = ProcessInfo.processInfo.environment["COURIER_TEST_KAFKA"], !servers.isEmpty {
            (bootstrapServers, mock) = (servers, nil)
        } else {
            let mock = try MockCluster(brokers: 1)
            (bootstrapServers, self.mock) = (mock.bootstrapServers, mock)
        }
    }

    var configuration: KafkaConfiguration { KafkaConfiguration(bootstrapServers: bootstrapServers) }

    func makeTopic(_ name: String, partitions: Int) async throws {
        if let mock {
            try mock.createTopic(name, partitions: partitions)
        } else {
            try await KafkaAdmin.createTopic(name, partitions: partitions, configuration: configuration)
        }
        try await eventually("the topic has its partitions") {
            (try? await KafkaAdmin.partitionCount(of: name, configuration: configuration)) == partitions
        }
    }

    func close() {
        mock?.close()
    }
}

/// The topics of one test.
struct TestTopics: Sendable {
    let requests: String
    let receipts: String
    let deliveries: String
    let deadLetters: String

    init(_ name: String) {
        requests = "\(name).requests"
        receipts = "\(name).receipts"
        deliveries = "\(name).deliveries"
        deadLetters = "\(name).dead-letters"
    }
}
