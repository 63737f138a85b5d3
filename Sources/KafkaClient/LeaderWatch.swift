// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials

/// The part of librdkafka's statistics that tells which brokers a client reads its partitions from.
struct ClientStatistics: Decodable {
    struct Broker: Decodable {
        let nodeid: Int32
        let nodename: String
        let state: String

        /// True while requests go out to it.
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

    /// Why a partition cannot be read; nil where its broker is there, or nothing is known of it.
    func obstacle(to partition: TopicPartition) -> KafkaError? {
        guard let known = topics[partition.topic]?.partitions[String(partition.partition)] else { return nil }
        guard known.broker >= 0 else { return KafkaError(.leaderNotAvailable).at(partition) }
        guard let broker = brokers.values.first(where: { $0.nodeid == known.broker }), !broker.isUp else { return nil }
        return KafkaError(.transport).at(partition).at(broker: broker.nodename)
    }
}

/// Finds partitions whose leaders are away while other brokers answer: the client tries them again in silence.
///
/// Pure: the owner hands in the client's statistics.
struct LeaderWatch {
    /// A leader that is away for so long is told of: an election, or a broker's restart in order, takes less.
    static let patience = Duration.seconds(4)

    private var absences: [TopicPartition: ContinuousClock.Instant] = [:]

    /// The partitions of these that cannot be read for some time already.
    mutating func absent(
        of partitions: [TopicPartition],
        in statistics: ClientStatistics,
        at now: ContinuousClock.Instant
    ) -> [TopicPartition: KafkaError] {
        var since: [TopicPartition: ContinuousClock.Instant] = [:]
        var absent: [TopicPartition: KafkaError] = [:]
        for partition in partitions {
            guard let error = statistics.obstacle(to: partition) else { continue }
            let start = absences[partition] ?? now
            since[partition] = start
            if now - start >= Self.patience { absent[partition] = error }
        }
        absences = since
        return absent
    }
}

extension KafkaConsumer {
    /// Tells of partitions whose leaders are away, and of their end.
    ///
    /// While reading is paused no leader is needed, and a group whose brokers are all away is told of elsewhere.
    func noteStatistics(_ json: String) {
        guard flow.mode != .paused, areBrokersReachable, revocation == nil else { return }
        guard let statistics = ClientStatistics(json: json) else { return }
        let change = readFaults.watch(leaderWatch.absent(of: assignment.partitions, in: statistics, at: .now))
        for error in change.begun { notify(.cannotRead(error)) }
        if change.ended.isEmpty { return }
        if readFaults.isEmpty { return notify(.readsAgain) }
        for partition in change.ended { notify(.partitionReadsAgain(partition)) }
    }
}
