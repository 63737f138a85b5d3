// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials

/// Finds the reasons why topics cannot be read although brokers answer, by place, each until that place is read.
///
/// An error names its place; an unreachable leader shows in the client's statistics alone, since the client retries it
/// silently. Errors that no topic causes are only reported.
struct ReadFaults: Watch {
    /// Time after which an unreachable leader is reported: an election, or an orderly restart of a broker, takes less.
    private static let maxWait = Duration.seconds(4)

    /// The time between two tries of the unreadable places.
    private static let pause = Duration.seconds(3)

    private let subscription: [String]
    private var group: KafkaError?
    private var topics: [String: KafkaError] = [:]
    private var partitions: [TopicPartition: KafkaError] = [:]

    /// The time since which each leader is unreachable.
    private var absences: [TopicPartition: ContinuousClock.Instant] = [:]

    /// Partitions whose leaders are unreachable for longer than `maxWait`.
    private var absent: [TopicPartition: KafkaError] = [:]
    private var nextTry: ContinuousClock.Instant?

    var isEmpty: Bool { group == nil && topics.isEmpty && partitions.isEmpty && absent.isEmpty }

    init(topics: [String]) { subscription = topics }

    mutating func see(_ event: WatchEvent, at now: ContinuousClock.Instant) -> [WatchAction] {
        switch event {
        case .error(let error) where error.code != .allBrokersDown: return [.notify(note(error))]
        case .statistics(let statistics, let owned): return watchLeaders(of: owned, in: statistics, at: now)
        case .released: absences = [:]
        default: break
        }
        if isEmpty { return [] }
        switch event {
        case .record(let place, _, _), .end(let place):
            (group, topics[place.topic], partitions[place]) = (nil, nil, nil)
        case .joined: group = nil
        case .found(let topic): topics[topic] = nil
        // Another member may own the partitions now.
        case .released: (partitions, absent) = ([:], [:])
        default: break
        }
        return isEmpty ? [.notify(.readsAgain)] : []
    }

    /// Retries unreadable places: a topic by a metadata request, a partition by a fetch that reports its end.
    mutating func due(at now: ContinuousClock.Instant) -> [WatchAction] {
        if isEmpty || now < nextTry ?? now { return [] }
        nextTry = now + Self.pause
        return topics.keys.sorted().map { .find(topic: $0) } + partitions.keys.map { .fetchAgain($0) }
    }

    /// Records an error if a topic is its cause, with that topic; returns the notice of it.
    private mutating func note(_ error: KafkaError) -> ConsumerNotice {
        guard error.reason.isOfTopic, error.reason != .recordRefused, !error.isFatal else { return .error(error) }
        let fault = error.topic == nil ? error.at(topic: subscription.joined(separator: ",")) : error
        if error.code.isOfGroup {
            group = fault
        } else if let topic = error.topic, let partition = error.partition {
            partitions[TopicPartition(topic: topic, partition: partition)] = fault
        } else {
            for topic in subscription where error.topic ?? topic == topic { topics[topic] = fault }
        }
        return .cannotRead(fault)
    }

    /// Reports partitions whose leaders are unreachable, and their recovery.
    private mutating func watchLeaders(
        of owned: [TopicPartition],
        in statistics: ClientStatistics,
        at now: ContinuousClock.Instant
    ) -> [WatchAction] {
        let obstacles = owned.reduce(into: [TopicPartition: KafkaError]()) { $0[$1] = statistics.obstacle(to: $1) }
        let since = absences
        absences = obstacles.reduce(into: [:]) { $0[$1.key] = since[$1.key] ?? now }
        let late = obstacles.filter { now - (since[$0.key] ?? now) >= Self.maxWait }
        let begun = late.filter { absent[$0.key] != $0.value }.values
        let ended = absent.keys.filter { late[$0] == nil }
        absent = late
        if !ended.isEmpty && isEmpty { return [.notify(.readsAgain)] }
        return begun.map { .notify(.cannotRead($0)) } + ended.map { .notify(.partitionReadsAgain($0)) }
    }
}

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

        /// All partitions of the topic; -1 stands for the records that have none yet.
        var partitionCount: Int { partitions.keys.count { $0 != "-1" } }
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
