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

/// Finds partitions with unreachable leaders while other brokers answer: the client retries them silently.
///
/// Pure: the owner passes in the client's statistics.
struct LeaderWatch {
    /// Time after which an unreachable leader is reported: an election, or an orderly restart of a broker, takes less.
    static let patience = Duration.seconds(4)

    private var absences: [TopicPartition: ContinuousClock.Instant] = [:]

    /// The given partitions whose leaders have been unreachable for longer than `patience`.
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
    /// Reports partitions whose leaders are unreachable, and their recovery.
    ///
    /// While reading is paused no leader is needed, and an outage of all brokers is reported elsewhere.
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
