// SPDX-License-Identifier: Apache-2.0

/// The records that a producer was given and has no result for, in the order of sending.
///
/// A token tells a record among all: its number.
struct Backlog {
    private struct Entry {
        /// Nil once the client has it, and a copy of its own.
        var record: ProducerRecord?
        let destination: Destination

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

    mutating func append(_ record: OutgoingRecord, to destination: Destination) {
        last += 1
        entries[last] = Entry(record: record.record, destination: destination, answer: record.answer)
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

    /// Since when the client has had the oldest record of each destination.
    var oldest: [Destination: ContinuousClock.Instant] {
        var oldest: [Destination: ContinuousClock.Instant] = [:]
        for entry in entries.values {
            guard let start = entry.start else { continue }
            oldest[entry.destination] = min(start, oldest[entry.destination] ?? start)
        }
        return oldest
    }

    /// The destination of a record that has no result.
    func destination(of token: Int) -> Destination? { entries[token]?.destination }

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
