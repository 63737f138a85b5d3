// SPDX-License-Identifier: Apache-2.0

/// The records that a producer accepted and has no result for, in the order of sending.
///
/// A token identifies a record: its number.
struct Backlog {
    private struct Entry {
        /// Nil after the client has made a copy of its own.
        var record: ProducerRecord?
        let destination: Destination

        /// The time at which the client got it.
        var start: ContinuousClock.Instant?
        let answer: @Sendable (DeliveryResult) -> Void
    }

    private var entries: [Int: Entry] = [:]
    private var last = 0

    /// The next record to pass to the client; the client has all earlier ones.
    private var cursor = 1

    var isEmpty: Bool { entries.isEmpty }

    /// True while a record was not passed to the client yet.
    var hasWaiting: Bool { cursor <= last }

    mutating func append(_ record: OutgoingRecord, to destination: Destination) {
        last += 1
        entries[last] = Entry(record: record.record, destination: destination, answer: record.answer)
    }

    /// The next record to pass to the client, unchanged until `advance()`.
    var next: (record: ProducerRecord, token: Int)? {
        guard let record = entries[cursor]?.record else { return nil }
        return (record, cursor)
    }

    /// Moves on to the next record; must precede the result of the current one.
    mutating func advance(at now: ContinuousClock.Instant = .now) {
        guard hasWaiting else { return }
        entries[cursor]?.record = nil
        entries[cursor]?.start = now
        cursor += 1
    }

    /// The time at which the client got the oldest record of each destination.
    var oldest: [Destination: ContinuousClock.Instant] {
        var oldest: [Destination: ContinuousClock.Instant] = [:]
        for entry in entries.values {
            guard let start = entry.start else { continue }
            oldest[entry.destination] = min(start, oldest[entry.destination] ?? start)
        }
        return oldest
    }

    /// The destination of a record without a result; nil when there is none.
    func destination(of token: Int) -> Destination? { entries[token]?.destination }

    /// Removes a record that has its result, and returns its callback; nil for an unknown token.
    mutating func finish(_ token: Int) -> (@Sendable (DeliveryResult) -> Void)? {
        entries.removeValue(forKey: token)?.answer
    }

    /// Removes all records, and returns their callbacks in the order of sending.
    mutating func finishAll() -> [@Sendable (DeliveryResult) -> Void] {
        let answers = entries.sorted { $0.key < $1.key }.map { $0.value.answer }
        entries = [:]
        cursor = last + 1
        return answers
    }
}
