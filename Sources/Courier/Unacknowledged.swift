// SPDX-License-Identifier: Apache-2.0

import KafkaClient
import Synchronization
import Verification

/// The records that the broker was given and has not answered for, of each stream one at a time.
///
/// The next of its stream waits here for that one, so that no event overtakes an earlier one. Each destination has room of
/// its own: what one has no room for is left in the table, and keeps no other's records back.
final class Unacknowledged: Sendable {
    /// The outcome of a record.
    enum Outcome {
        case delivered

        /// The record alone was not taken.
        case refused

        /// The destination takes nothing, as far as is known.
        case failed
    }

    private struct Run {
        let destination: Destination
        let end: ContinuousClock.Instant

        /// The number of the record that is with the broker.
        let sequence: Int32

        /// What follows that record.
        var following: [OutboxRecord] = []

        /// That record and what follows it, taken from the table once more because the broker was silent for a lease.
        var again: [OutboxRecord] = []
        var againEnd: ContinuousClock.Instant

        /// The weight of all of it.
        var weight: Int

        init(_ first: OutboxRecord, to destination: Destination, until end: ContinuousClock.Instant) {
            self.destination = destination
            self.end = end
            sequence = first.sequence
            againEnd = end
            weight = first.weight
        }
    }

    private struct State {
        var runs: [UUIDValue: Run] = [:]
        var rooms: [Destination: DestinationRoom] = [:]
        var weight = 0
        var deliveredAt: ContinuousClock.Instant?

        /// Puts a run in the place of its stream's, with the room that it takes.
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

    /// The limit of all destinations together, by that of one.
    private static let share = 4

    private let state = Mutex(State())
    private let limit: Int
    private let signal = Signal()

    /// `limit` is the weight from which on a destination has no room: it holds less, and what came last.
    init(limit: Int) {
        self.limit = limit
    }

    /// True while a record of the stream is with the broker.
    func contains(_ stream: UUIDValue) -> Bool { state.withLock { $0.runs[stream] != nil } }

    /// A stream whose records stay in the table, and for how long.
    struct Left {
        let record: OutboxRecord
        let destination: Destination
        let pause: Duration
    }

    /// The use of records that were taken.
    struct Beginning {
        /// The records that are to be given to the broker now: of each stream the first.
        var first: [OutboxRecord] = []

        /// The streams whose destinations have no room, by their first records.
        var left: [Left] = []
    }

    /// Takes records, those of a stream in their order.
    ///
    /// Where a record of the stream is there already, those that begin with that one go when the broker does not take it;
    /// others are left in the table, where the lease on them ends. After `end` nothing follows any more.
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
                let weight = record.weight
                guard var run = state.runs[record.stream] else {
                    let destination = destination(record)
                    var room = state.rooms[destination] ?? DestinationRoom()
                    guard state.weight < limit * Self.share, room.takes(record.stream, below: limit, at: now) else {
                        left.insert(record.stream)
                        beginning.left.append(
                            Left(record: record, destination: destination, pause: room.pause(at: now))
                        )
                        continue
                    }
                    room.begin(at: now)
                    state.rooms[destination] = room
                    state.keep(Run(record, to: destination, until: end), of: record.stream)
                    begun.insert(record.stream)
                    beginning.first.append(record)
                    continue
                }
                if begun.contains(record.stream) {
                    guard record.sequence > run.following.last?.sequence ?? run.sequence else { continue }
                    run.following.append(record)
                } else if record.sequence == run.sequence {
                    run.weight -= run.again.reduce(0) { $0 + $1.weight }
                    run.again = [record]
                    run.againEnd = end
                } else if let last = run.again.last, record.sequence == last.sequence + 1 {
                    run.again.append(record)
                } else {
                    continue
                }
                run.weight += weight
                state.keep(run, of: record.stream)
            }
            return beginning
        }
    }

    /// The outcome of an answer for one stream.
    struct Continuation {
        /// The record that is to be given to the broker now.
        var next: OutboxRecord?

        /// Not nil when a record of the stream that is leased to this worker stays in the table, with nobody to publish it.
        var left: Left?
    }

    /// Forgets a record that the broker has answered for; returns the next one of its stream when it `goesOn`.
    ///
    /// A refused record goes once more where it was taken from the table meanwhile. Where nothing goes on, what follows
    /// is left in the table.
    func end(
        _ record: OutboxRecord,
        _ outcome: Outcome,
        goesOn: Bool,
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
            guard goesOn, outcome != .failed, let next = rest.first, now < end else {
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

    /// Waits until the broker has answered for everything, or the task is cancelled.
    ///
    /// One waiter.
    func waitForAll() async {
        while !state.withLock(\.runs.isEmpty) {
            guard await signal.wait() else { return }
        }
    }
}

// MARK: - What is left in the table

extension Unacknowledged {
    /// Remembers streams that were given back to the table, so that they are recalled as soon as there is room.
    func leave(_ left: [Left]) {
        state.withLock { state in
            for left in left {
                state.rooms[left.destination, default: DestinationRoom()].leave(left.record.stream)
            }
        }
    }

    /// Forgets streams that were left, and returns those that are to be taken from the table now.
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

    /// True while a destination is stuck and no other takes records, so that there is little to gain from the table.
    func isSilent(now: ContinuousClock.Instant = .now) -> Bool {
        state.withLock { state in
            if let last = state.deliveredAt, now - last < DestinationRoom.probePause { return false }
            return state.rooms.values.contains { $0.stuckSince(at: now) != nil }
        }
    }
}

extension OutboxRecord {
    /// What it counts in limits and batches: a dead letter may be as large as a thousand events.
    var weight: Int { 1 + size / 1024 }
}
