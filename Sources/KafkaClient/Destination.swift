// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// Where a record goes: a topic and, as far as it is known before the record is sent, its partition.
package struct Destination: Hashable, Sendable {
    package let topic: String

    /// Nil for a record without a key, and until the topic's partitions are counted.
    package let partition: Int32?

    package init(topic: String, partition: Int32? = nil) {
        self.topic = topic
        self.partition = partition
    }
}

/// The numbers of partitions of topics, which tell a key's partition before its record is sent.
///
/// Nothing but the room for records depends on them: a number that is old for a moment does no harm.
final class PartitionCounts: Sendable {
    private struct Topic {
        var count: Int32?
        var nextQuestion: ContinuousClock.Instant?
    }

    /// The time between two questions about one topic.
    private static let pause = Duration.seconds(5)

    private let topics = Mutex<[String: Topic]>([:])

    /// The destination of a key; a topic that was not met before is counted soon.
    func destination(of key: [UInt8]?, in topic: String) -> Destination {
        let count = topics.withLock { topics in
            if let known = topics[topic] { return known.count }
            topics[topic] = Topic()
            return nil
        }
        // The client spreads what has no key, or an empty one, at random.
        guard let count, let key, !key.isEmpty else { return Destination(topic: topic) }
        return Destination(topic: topic, partition: ClientHandle.partition(of: key, count: count))
    }

    func destination(of record: ProducerRecord) -> Destination {
        if let partition = record.partition { return Destination(topic: record.topic, partition: partition) }
        return destination(of: record.key, in: record.topic)
    }

    /// A topic to be counted now.
    func uncounted(at now: ContinuousClock.Instant) -> String? {
        topics.withLock { topics in
            let due = topics.first { $0.value.count == nil && $0.value.nextQuestion ?? now <= now }
            guard let topic = due?.key else { return nil }
            topics[topic]?.nextQuestion = now + Self.pause
            return topic
        }
    }

    func note(_ count: Int, of topic: String) {
        topics.withLock { $0[topic]?.count = count > 0 ? Int32(clamping: count) : nil }
    }

    /// A partition that was not there at the count asks for another one.
    func noteDelivery(to partition: Int32, of topic: String) {
        topics.withLock { topics in
            if let count = topics[topic]?.count, partition >= count { topics[topic]?.count = nil }
        }
    }
}
