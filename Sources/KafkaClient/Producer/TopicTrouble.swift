// SPDX-License-Identifier: Apache-2.0

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
