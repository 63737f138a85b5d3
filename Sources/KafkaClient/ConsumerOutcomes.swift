// SPDX-License-Identifier: Apache-2.0

/// What became of a commit.
package enum CommitOutcome: Hashable, Sendable {
    /// The group's offsets are past the batch.
    case committed

    /// The partitions went to another member meanwhile: the records are that member's to deal with again.
    case notAssigned

    /// The offsets did not move; the commit of a later batch covers this one.
    case failed(KafkaError)
}

/// What an operator may want to know of a consumer; nothing depends on somebody reading it.
package enum ConsumerNotice: Hashable, Sendable {
    case assigned([TopicPartition])

    /// The partitions were given back in good order.
    case revoked([TopicPartition])

    /// The group took the partitions away: their records may be with another member already.
    case lost([TopicPartition])

    /// Records that nobody of the group has read and that the topic no longer has; marks of transactions count as records.
    case recordsLost(TopicPartition, Range<Int64>)

    /// The topic's records carry the times of their producers' clocks; once for each topic.
    case producerTimes(topic: String)

    /// The topic was deleted and made anew: its records are read from the first one on.
    case topicMadeAnew(topic: String)

    /// Other programs are in the group.
    case groupShared(GroupConflict)

    /// A topic, or some partition of it, cannot be read though brokers answer.
    case cannotRead(KafkaError)

    /// A partition can be read again, and others cannot.
    case partitionReadsAgain(TopicPartition)

    /// Everything can be read again.
    case readsAgain

    /// With the fault of the last connection that failed, where there is one.
    case brokersUnreachable(KafkaError?)
    case brokersReachable
    case error(KafkaError)
}

/// How many records a partition has that were not handed out yet.
package struct PartitionLag: Hashable, Sendable {
    package let topic: String
    package let partition: Int32
    package let lag: Int64

    /// How long the oldest of them has been there, or has been known to be.
    package let age: Duration
}
