// SPDX-License-Identifier: Apache-2.0

import Formats
import KafkaClient
import Synchronization
import Verification

/// The records that are in flight to the broker, at most one per stream.
///
/// Later records of a stream wait here for the one in flight, so that no event overtakes an earlier one. Each
/// destination has a limit of its own: records beyond it stay in the table and delay no other destination.
final class Unacknowledged: Sendable {
    enum Outcome {
        case delivered

        /// The broker rejected this record only.
        case refused

        /// The destination accepts no records, as far as is known.
        case failed
    }

    private struct Run {
        let destination: Destination
        let end: ContinuousClock.Instant

        /// The sequence number of the record in flight.
        let sequence: Int32

        /// The records that follow it in the stream.
        var following: [OutboxRecord] = []

        /// The record in flight and its followers, claimed from the table again because the broker was silent for a
        /// lease.
        var again: [OutboxRecord] = []
        var againEnd: ContinuousClock.Instant

        /// The weight of all these records.
        var weight: Int

        init(_ first: OutboxRecord, to destination: Destination, until end: ContinuousClock.Instant) {
            self.destination = destination
            self.end = end
            sequence = first.sequence
            againEnd = end
            weight = first.weight
        }

        /// Returns the run with one more record of its stream; nil if the record stays in the table.
        ///
        /// `isBegun` is true if the run began with the same call as the record.
        func adding(_ record: OutboxRecord, isBegun: Bool, until end: ContinuousClock.Instant) -> Run? {
            var run = self
            if isBegun {
                guard record.sequence > following.last?.sequence ?? sequence else { return nil }
                run.following.append(record)
            } else if record.sequence == sequence {
                run.weight -= again.reduce(0) { $0 + $1.weight }
                run.again = [record]
                run.againEnd = end
            } else if let last = again.last, record.sequence == last.sequence + 1 {
                run.again.append(record)
            } else {
                return nil
            }
            run.weight += record.weight
            return run
        }
    }

    private struct State {
        var runs: [UUIDValue: Run] = [:]
        var rooms: [Destination: DestinationRoom] = [:]
        var weight = 0
        var deliveredAt: ContinuousClock.Instant?

        /// Replaces the run of a stream, and updates the weights.
        mutating func keep(_ run: Run?, of stream: UUIDValue) {
            if let last = runs.removeValue(forKey: stream) { add(-last.weight, to: last.destination) }
            guard let run else { return }
            add(run.weight, to: run.destination)
            runs[stream] = run
        }

        private mutating func add(_ change: Int, to destination: Destination) {
            weight += change
            rooms[destination, default: DestinationRoom()].add(change)
        }
    }

    /// The limit of all destinations together, as a multiple of the limit of one.
    private static let share = 4

    private let state = Mutex(State())
    private let limit: Int
    private let signal = Signal()

    /// Makes an empty set; `limit` is the weight at which a destination is full.
    ///
    /// One record may exceed it.
    init(limit: Int) {
        self.limit = limit
    }

    /// True while a record of the stream is in flight.
    func contains(_ stream: UUIDValue) -> Bool { state.withLock { $0.runs[stream] != nil } }

    /// A stream whose records stay in the table, and the pause until they are due.
    struct Left {
        let record: OutboxRecord
        let destination: Destination
        let pause: Duration
    }

    /// The result of `begin`.
    struct Beginning {
        /// The records to produce now: the first of each stream.
        var first: [OutboxRecord] = []

        /// The streams whose destinations are full, by their first records.
        var left: [Left] = []
    }

    /// Accepts records; those of one stream must be in order.
    ///
    /// For a stream with a record in flight, records that begin with that same record are kept, for the case that the
    /// broker rejects it. Other records stay in the table until their lease ends. After `end` no following record is
    /// produced.
    func begin(
        _ records: [OutboxRecord],
        to destination: (OutboxRecord) -> Destination,
        until end: ContinuousClock.Instant,
        now: ContinuousClock.Instant = .now
    ) -> Beginning {
        state.withLock { state in
            var beginning = Beginning()
            var begun: Set<UUIDValue> = []
            var left: Set<UUIDValue> = []
            for record in records where !left.contains(record.stream) {
                if let run = state.runs[record.stream] {
                    let next = run.adding(record, isBegun: begun.contains(record.stream), until: end)
                    if let next { state.keep(next, of: record.stream) }
                    continue
                }
                let destination = destination(record)
                var room = state.rooms[destination] ?? DestinationRoom()
                guard state.weight < limit * Self.share, room.takes(record.stream, below: limit, at: now) else {
                    left.insert(record.stream)
                    beginning.left.append(Left(record: record, destination: destination, pause: room.pause(at: now)))
                    continue
                }
                room.begin(at: now)
                state.rooms[destination] = room
                state.keep(Run(record, to: destination, until: end), of: record.stream)
                begun.insert(record.stream)
                beginning.first.append(record)
            }
            return beginning
        }
    }

    /// The result of an answer for one stream.
    struct Continuation {
        /// The record to produce now.
        var next: OutboxRecord?

        /// Not nil when a record of the stream stays in the table, leased to this worker but not published by it.
        var left: Left?
    }

    /// Removes an answered record; returns the next one of its stream when `continues`.
    ///
    /// A rejected record is retried if it was claimed from the table again meanwhile. If nothing is to be produced, the
    /// rest of the stream stays in the table.
    func end(
        _ record: OutboxRecord,
        _ outcome: Outcome,
        continues: Bool,
        now: ContinuousClock.Instant = .now
    ) -> Continuation {
        let continuation = state.withLock { state in
            guard let run = state.runs[record.stream] else { return Continuation() }
            state.keep(nil, of: record.stream)
            state.rooms[run.destination]?.end(record.stream, outcome, at: now)
            let isDelivered = outcome == .delivered
            if isDelivered { state.deliveredAt = now }
            let isLast = isDelivered && run.following.isEmpty && run.again.count <= 1
            let left = Left(record: record, destination: run.destination, pause: DestinationRoom.probePause)
            let isFollowed = isDelivered && !run.following.isEmpty && now < run.end
            let rest = isFollowed ? run.following : isDelivered ? Array(run.again.dropFirst()) : run.again
            let end = isFollowed ? run.end : run.againEnd
            guard continues, outcome != .failed, let next = rest.first, now < end else {
                return Continuation(left: isLast ? nil : left)
            }
            var going = Run(next, to: run.destination, until: end)
            going.following = Array(rest.dropFirst())
            going.weight = rest.reduce(0) { $0 + $1.weight }
            state.rooms[run.destination]?.begin(at: now)
            state.keep(going, of: record.stream)
            return Continuation(next: next)
        }
        signal.send()
        return continuation
    }

    /// Waits until the broker has answered for every record, or the task is cancelled.
    ///
    /// At most one caller may wait.
    func waitForAll() async {
        while !state.withLock(\.runs.isEmpty) {
            guard await signal.wait() else { return }
        }
    }
}

// MARK: - Records left in the table

extension Unacknowledged {
    /// Remembers streams that were released to the table, to recall them as soon as the destination accepts more.
    func leave(_ left: [Left]) {
        state.withLock { state in
            for left in left {
                state.rooms[left.destination, default: DestinationRoom()].leave(left.record.stream)
            }
        }
    }

    /// Removes and returns remembered streams to read from the table now.
    func recall(_ maximum: Int, now: ContinuousClock.Instant = .now) -> [UUIDValue] {
        state.withLock { state in
            var recalled: [UUIDValue] = []
            for destination in state.rooms.keys where recalled.count < maximum {
                let count = maximum - recalled.count
                recalled += state.rooms[destination]?.recall(count, below: limit, at: now) ?? []
            }
            return recalled
        }
    }

    /// True while a destination is stuck and no record was acknowledged lately, so that reading the table gains little.
    func isSilent(now: ContinuousClock.Instant = .now) -> Bool {
        state.withLock { state in
            if let last = state.deliveredAt, now - last < DestinationRoom.probePause { return false }
            return state.rooms.values.contains { $0.stuckSince(at: now) != nil }
        }
    }
}

extension OutboxRecord {
    /// Its weight in limits and batches: a dead letter may be as large as a thousand events.
    var weight: Int { 1 + size / 1024 }
}
