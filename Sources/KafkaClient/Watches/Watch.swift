// SPDX-License-Identifier: Apache-2.0

/// A watcher of one condition of a consumer's brokers, group or topics.
///
/// Pure: it sees events, and returns actions, which the consumer performs. The answer to a question is an event, too.
protocol Watch {
    mutating func see(_ event: WatchEvent, at now: ContinuousClock.Instant) -> [WatchAction]

    /// Returns the actions whose time has come.
    mutating func due(at now: ContinuousClock.Instant) -> [WatchAction]
}

extension Watch {
    /// By default no action, for a watcher that only sees events.
    func due(at now: ContinuousClock.Instant) -> [WatchAction] { [] }
}

enum WatchEvent {
    /// A record was read; `brokerTime` is nil when it has its producer's time.
    case record(TopicPartition, offset: Int64, brokerTime: Int64?)

    /// A partition was read to its end.
    case end(TopicPartition)

    /// The group assigned partitions, with these committed offsets; precedes their first record.
    case assigned(committed: [TopicPartition: Int64])

    /// Reading of the assigned partitions began.
    case joined

    /// The partitions were given back.
    case released

    /// The partitions are read from their beginning.
    case restarted

    /// A broker answered a commit.
    case committed

    case error(KafkaError)
    case statistics(ClientStatistics, of: [TopicPartition])

    // MARK: Answers

    /// The group's members; nil when the coordinator did not answer.
    case members(GroupDescription?)

    /// The first offset of a partition and the offset after its last record; nil when no broker answered.
    case bounds(TopicPartition, Range<Int64>?)

    /// The topic exists and can be used.
    case found(topic: String)

    /// A topic's id; nil when the brokers or the library have none.
    case topicID(TopicIdentity.ID?)

    /// The first offset of each partition at or after the requested time.
    case offsets([TopicPartition: Int64])
}

enum WatchAction: Hashable {
    case notify(ConsumerNotice)

    /// Reads all partitions from their beginning, since the topic was recreated.
    case restart(topic: String)

    /// Fetches a partition again from its position.
    case fetchAgain(TopicPartition)

    // MARK: Questions

    case askMembers(within: Duration)
    case askBounds(TopicPartition)
    case find(topic: String)
    case askTopicID
    case askOffsets(at: [TopicPartition: Int64])
}

/// The watchers of a consumer.
struct Watches {
    var losses = LossWatch()
    var brokers = BrokerWatch()
    var group: GroupWatch
    var reads: ReadFaults
    var identity: TopicIdentity

    init(topics: [String]) {
        group = GroupWatch(topics: topics)
        reads = ReadFaults(topics: topics)
        identity = TopicIdentity(topics: topics)
    }

    mutating func see(_ event: WatchEvent, at now: ContinuousClock.Instant) -> [WatchAction] {
        losses.see(event, at: now) + brokers.see(event, at: now) + group.see(event, at: now)
            + reads.see(event, at: now) + identity.see(event, at: now)
    }
}

/// Finds outages of all brokers, and their ends.
struct BrokerWatch: Watch {
    private(set) var areReachable = true

    /// The latest connection fault since a broker was last reached.
    private var connectionFault: KafkaError?

    mutating func see(_ event: WatchEvent, at now: ContinuousClock.Instant) -> [WatchAction] {
        switch event {
        // Of rebalances, only an assignment proves that a broker answered: the client detects an expired session itself.
        case .record, .end, .assigned, .committed:
            defer { (areReachable, connectionFault) = (true, nil) }
            return areReachable ? [] : [.notify(.brokersReachable)]
        case .error(let error):
            if error.broker != nil { connectionFault = error }
            guard error.code == .allBrokersDown else { return [] }
            defer { areReachable = false }
            return areReachable ? [.notify(.brokersUnreachable(connectionFault))] : []
        default:
            return []
        }
    }
}
