// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// The destination of a record: its topic and, if known before it is sent, its partition.
package struct Destination: Hashable, Sendable {
    package let topic: String

    /// Nil for a record without a key, and until the number of the topic's partitions is known.
    package let partition: Int32?

    package init(topic: String, partition: Int32? = nil) {
        self.topic = topic
        self.partition = partition
    }
}

/// The numbers of topics' partitions, which determine a key's partition before its record is sent.
///
/// Only the limits of records in memory depend on them, so a briefly outdated number is harmless.
final class PartitionCounts: Sendable {
    private struct Topic {
        var count: Int32?
        var nextQuestion: ContinuousClock.Instant?
    }

    /// The time between two queries for one topic.
    private static let pause = Duration.seconds(5)

    private let topics = Mutex<[String: Topic]>([:])

    /// The destination of a key; an unknown topic is queued for counting.
    func destination(of key: [UInt8]?, in topic: String) -> Destination {
        let count = topics.withLock { topics in
            if let known = topics[topic] { return known.count }
            topics[topic] = Topic()
            return nil
        }
        // The client assigns records with an empty key, or without one, at random.
        guard let count, let key, !key.isEmpty else { return Destination(topic: topic) }
        return Destination(topic: topic, partition: ClientHandle.partition(of: key, count: count))
    }

    func destination(of record: ProducerRecord) -> Destination {
        if let partition = record.partition { return Destination(topic: record.topic, partition: partition) }
        return destination(of: record.key, in: record.topic)
    }

    /// A topic whose partitions must be counted now.
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

    /// Records a delivery; a partition that was not counted makes the topic due for another count.
    func noteDelivery(to partition: Int32, of topic: String) {
        topics.withLock { topics in
            if let count = topics[topic]?.count, partition >= count { topics[topic]?.count = nil }
        }
    }
}

/// Finds destinations whose records wait in the client for too long: it retries them silently until they time out.
///
/// Pure: the owner queries the brokers.
struct TopicTrouble {
    /// Waiting time after which the cause is queried.
    static let maxWait = Duration.seconds(4)

    /// The time between two queries.
    private static let pause = Duration.seconds(5)

    private var next: ContinuousClock.Instant?

    /// The causes that the last queries found.
    private var causes: [Destination: KafkaError] = [:]

    /// The destinations to query now by topic; `waiting` has the time at which the client got their oldest records.
    mutating func suspects(
        _ waiting: [Destination: ContinuousClock.Instant],
        at now: ContinuousClock.Instant
    ) -> [String: [Destination]] {
        if let next, now < next { return [:] }
        let late = waiting.filter { $0.value + Self.maxWait <= now }.keys
        if !late.isEmpty { next = now + Self.pause }
        return Dictionary(grouping: late, by: \.topic)
    }

    mutating func note(_ cause: KafkaError, of destination: Destination) { causes[destination] = cause }

    /// Forgets the causes of a partition that accepted a record, and those of its topic as a whole.
    mutating func clear(_ topic: String, _ partition: Int32) {
        if causes.isEmpty { return }
        causes[Destination(topic: topic, partition: partition)] = nil
        causes[Destination(topic: topic)] = nil
    }

    func cause(of destination: Destination) -> KafkaError? { causes[destination] }
}

/// A producer's notice for an operator; nothing depends on anybody reading it.
package enum ProducerNotice: Hashable, Sendable {
    /// A topic or partition accepts no records although brokers answer, and the client still retries.
    ///
    /// Repeated every few seconds.
    case stuck(KafkaError)
}
