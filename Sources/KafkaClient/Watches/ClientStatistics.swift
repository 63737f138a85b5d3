// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials

/// The part of librdkafka's statistics that shows from which brokers a client reads its partitions.
struct ClientStatistics: Decodable {
    struct Broker: Decodable {
        let nodeid: Int32
        let nodename: String
        let state: String

        var isUp: Bool { ["UP", "UPDATE", "REAUTH"].contains(state) }
    }

    struct Topic: Decodable {
        let partitions: [String: Partition]
    }

    struct Partition: Decodable {
        /// -1 while there is no leader.
        let broker: Int32
    }

    let brokers: [String: Broker]
    let topics: [String: Topic]

    init?(json: String) {
        guard let value = try? JSONDecoder().decode(Self.self, from: Data(json.utf8)) else { return nil }
        self = value
    }

    /// The reason why a partition cannot be read; nil when its broker is reachable, or nothing is known about it.
    func obstacle(to partition: TopicPartition) -> KafkaError? {
        guard let known = topics[partition.topic]?.partitions[String(partition.partition)] else { return nil }
        guard known.broker >= 0 else { return KafkaError(.leaderNotAvailable).at(partition) }
        guard let broker = brokers.values.first(where: { $0.nodeid == known.broker }), !broker.isUp else { return nil }
        return KafkaError(.transport).at(partition).at(broker: broker.nodename)
    }
}
