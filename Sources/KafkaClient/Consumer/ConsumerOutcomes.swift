// SPDX-License-Identifier: Apache-2.0

/// The result of a commit.
package enum CommitOutcome: Hashable, Sendable {
    /// The group's offsets are past the batch.
    case committed

    /// The partitions were assigned to another member meanwhile, which reads the records again.
    case notAssigned

    /// The offsets are unchanged; the commit of a later batch covers this one.
    case failed(KafkaError)
}

/// A consumer's notice for an operator; nothing depends on anybody reading it.
package enum ConsumerNotice: Hashable, Sendable {
    /// The consumer has requested partitions from the group: the first ones come within seconds.
    case joining
    case assigned([TopicPartition])

    /// The partitions were released in an orderly rebalance.
    case revoked([TopicPartition])

    /// The group revoked the partitions: another member may have their records already.
    case lost([TopicPartition])

    /// Records that the topic dropped before the group read them; transaction markers count as records.
    case recordsLost(TopicPartition, Range<Int64>)

    /// The topic's records have the times of their producers' clocks; reported once for each topic.
    case producerTimes(topic: String)

    /// The topic was deleted and recreated: its records are read from the first one.
    case topicRecreated(topic: String)

    /// Other programs are members of the group.
    case groupShared(GroupConflict)

    /// A topic or one of its partitions cannot be read although brokers answer.
    case cannotRead(KafkaError)

    /// A partition can be read again, while others still cannot.
    case partitionReadsAgain(TopicPartition)

    /// All partitions can be read again.
    case readsAgain

    /// No broker is reachable; with the latest connection fault, if there is one.
    case brokersUnreachable(KafkaError?)
    case brokersReachable
    case error(KafkaError)
}
