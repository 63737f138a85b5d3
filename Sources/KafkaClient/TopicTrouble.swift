// SPDX-License-Identifier: Apache-2.0

/// Finds topics whose records wait in the client for too long: it retries them in silence until their time is over.
///
/// Pure: the owner asks the brokers.
struct TopicTrouble {
    /// Records that wait for so long are looked after.
    static let patience = Duration.seconds(4)

    /// The time between two questions.
    private static let pause = Duration.seconds(5)

    private var next: ContinuousClock.Instant?

    /// The causes found last, by topic.
    private var causes: [String: KafkaError] = [:]

    /// The topics to ask about now, from when records were given to the client.
    mutating func suspects(_ waiting: [String: ContinuousClock.Instant], at now: ContinuousClock.Instant) -> [String] {
        if let next, now < next { return [] }
        let late = waiting.filter { $0.value + Self.patience <= now }.keys.sorted()
        if !late.isEmpty { next = now + Self.pause }
        return late
    }

    mutating func note(_ cause: KafkaError, of topic: String) { causes[topic] = cause }

    /// Forgets a topic that took a record.
    mutating func clear(_ topic: String) {
        if !causes.isEmpty { causes[topic] = nil }
    }

    func cause(of topic: String) -> KafkaError? { causes[topic] }
}

/// What an operator may want to know of a producer; nothing depends on somebody reading it.
package enum ProducerNotice: Hashable, Sendable {
    /// A topic takes no records, of which the client has not given up any yet.
    case stuck(KafkaError)
}
