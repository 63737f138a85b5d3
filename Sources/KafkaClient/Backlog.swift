// SPDX-License-Identifier: Apache-2.0

/// The records that a producer was given and has no result for, in the order of sending.
///
/// A token tells a record among all: its number.
struct Backlog {
    private struct Entry {
        /// Nil once the client has it, and a copy of its own.
        var record: ProducerRecord?
        let topic: String

        /// When the client was given it.
        var start: ContinuousClock.Instant?
        let answer: @Sendable (DeliveryResult) -> Void
    }

    private var entries: [Int: Entry] = [:]
    private var last = 0

    /// The next record to hand to the client; those before it were handed over.
    private var cursor = 1

    var isEmpty: Bool { entries.isEmpty }

    /// True while a record was not handed to the client yet.
    var hasWaiting: Bool { cursor <= last }

    mutating func append(_ record: OutgoingRecord) {
        last += 1
        entries[last] = Entry(record: record.record, topic: record.record.topic, answer: record.answer)
    }

    /// The next record to hand over, which stays the next until `advance()`.
    var next: (record: ProducerRecord, token: Int)? {
        guard let record = entries[cursor]?.record else { return nil }
        return (record, cursor)
    }

    /// Goes on to the record after; before the result of the one before it is given.
    mutating func advance(at now: ContinuousClock.Instant = .now) {
        guard hasWaiting else { return }
        entries[cursor]?.record = nil
        entries[cursor]?.start = now
        cursor += 1
    }

    /// Since when the client has had the oldest record of each topic.
    var oldest: [String: ContinuousClock.Instant] {
        var oldest: [String: ContinuousClock.Instant] = [:]
        for entry in entries.values {
            guard let start = entry.start else { continue }
            oldest[entry.topic] = min(start, oldest[entry.topic] ?? start)
        }
        return oldest
    }

    /// The topic of a record that has no result.
    func topic(of token: Int) -> String? { entries[token]?.topic }

    /// Forgets a record that has its result, and returns who is told; nil when it is not known.
    mutating func finish(_ token: Int) -> (@Sendable (DeliveryResult) -> Void)? {
        entries.removeValue(forKey: token)?.answer
    }

    /// Forgets all, and returns who is told, in the order of sending.
    mutating func finishAll() -> [@Sendable (DeliveryResult) -> Void] {
        let answers = entries.sorted { $0.key < $1.key }.map { $0.value.answer }
        entries = [:]
        cursor = last + 1
        return answers
    }
}
