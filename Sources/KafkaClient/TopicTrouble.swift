// SPDX-License-Identifier: Apache-2.0

/// Finds destinations whose records wait in the client for too long: it retries them in silence until their time is over.
///
/// Pure: the owner asks the brokers.
struct TopicTrouble {
    /// Records that wait for so long are looked after.
    static let patience = Duration.seconds(4)

    /// The time between two questions.
    private static let pause = Duration.seconds(5)

    private var next: ContinuousClock.Instant?

    /// The causes found last.
    private var causes: [Destination: KafkaError] = [:]

    /// The destinations to ask about now, by topic, from when records were given to the client.
    mutating func suspects(
        _ waiting: [Destination: ContinuousClock.Instant],
        at now: ContinuousClock.Instant
    ) -> [String: [Destination]] {
        if let next, now < next { return [:] }
        let late = waiting.filter { $0.value + Self.patience <= now }.keys
        if !late.isEmpty { next = now + Self.pause }
        return Dictionary(grouping: late, by: \.topic)
    }

    mutating func note(_ cause: KafkaError, of destination: Destination) { causes[destination] = cause }

    /// Forgets a partition that took a record, and what is known of its topic as a whole.
    mutating func clear(_ topic: String, _ partition: Int32) {
        if causes.isEmpty { return }
        causes[Destination(topic: topic, partition: partition)] = nil
        causes[Destination(topic: topic)] = nil
    }

    func cause(of destination: Destination) -> KafkaError? { causes[destination] }
}

/// What an operator may want to know of a producer; nothing depends on somebody reading it.
package enum ProducerNotice: Hashable, Sendable {
    /// A topic, or a partition of it, takes no records though brokers answer; the client has not given up any yet. It is
    /// told again every few seconds.
    case stuck(KafkaError)
}
