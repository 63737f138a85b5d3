// SPDX-License-Identifier: Apache-2.0

import Synchronization
import Verification

/// The records that the broker was given and has not answered for, of each stream one at a time.
///
/// What follows in its stream waits here for that one, so that no event overtakes an earlier one. However long a
/// partition takes nothing, only so much waits for it: there is a limit for what was handed over and one for what was
/// taken over, which comes again and again meanwhile and must not keep out what is new.
final class Unacknowledged: Sendable {
    /// How records come to be published.
    enum Way {
        /// By the stage that wrote them.
        case handedOver

        /// From the table.
        case takenOver
    }

    private struct Run {
        let way: Way
        let end: ContinuousClock.Instant

        /// The number of the record that is with the broker.
        let sequence: Int32

        /// What follows that record.
        var following: [OutboxRecord] = []

        /// That record and what follows it, taken from the table once more because the broker was silent for a lease.
        var again: [OutboxRecord] = []
        var againEnd: ContinuousClock.Instant

        var weightOfFollowing: Int { following.reduce(0) { $0 + $1.weight } }
        var weightOfAgain: Int { again.reduce(0) { $0 + $1.weight } }

        init(_ first: OutboxRecord, by way: Way, until end: ContinuousClock.Instant) {
            self.way = way
            self.end = end
            sequence = first.sequence
            againEnd = end
        }
    }

    private struct State {
        var runs: [UUIDValue: Run] = [:]
        var weights: [Way: Int] = [:]

        func weight(_ way: Way) -> Int { weights[way, default: 0] }
    }

    private let state = Mutex(State())
    private let limit: Int
    private let signal = Signal()

    /// `limit` is the weight of each way from which on there is no room: it holds less, and what came last.
    init(limit: Int) {
        self.limit = limit
    }

    var count: Int { state.withLock { $0.runs.values.reduce(0) { $0 + 1 + $1.following.count } } }

    func hasRoom(for way: Way) -> Bool { state.withLock { $0.weight(way) < limit } }

    /// Whether a record of the stream is with the broker.
    func contains(_ stream: UUIDValue) -> Bool { state.withLock { $0.runs[stream] != nil } }

    /// Takes records, and returns those that are to be given to the broker now: of each stream the first.
    ///
    /// Where a record of the stream is there already, those that begin with that one go when the broker does not take it;
    /// others are left in the table, where the lease on them ends. After `end` nothing follows any more.
    func begin(_ records: [OutboxRecord], by way: Way, until end: ContinuousClock.Instant) -> [OutboxRecord] {
        state.withLock { state in
            var first: [OutboxRecord] = []
            var begun: Set<UUIDValue> = []
            for record in records {
                guard var run = state.runs[record.stream] else {
                    state.runs[record.stream] = Run(record, by: way, until: end)
                    state.weights[way, default: 0] += record.weight
                    begun.insert(record.stream)
                    first.append(record)
                    continue
                }
                if begun.contains(record.stream) {
                    guard record.sequence > run.following.last?.sequence ?? run.sequence else { continue }
                    run.following.append(record)
                    state.weights[way, default: 0] += record.weight
                } else if record.sequence == run.sequence {
                    state.weights[.takenOver, default: 0] += record.weight - run.weightOfAgain
                    run.again = [record]
                    run.againEnd = end
                } else if let last = run.again.last, record.sequence == last.sequence + 1 {
                    state.weights[.takenOver, default: 0] += record.weight
                    run.again.append(record)
                } else {
                    continue
                }
                state.runs[record.stream] = run
            }
            return first
        }
    }

    /// The outcome of an answer for one stream.
    struct Continuation {
        /// The record that is to be given to the broker now.
        var next: OutboxRecord?

        /// True when a record of the stream that is leased to this worker stays in the table, with nobody to publish it.
        var leavesSome = false
    }

    /// Forgets a record that the broker has answered for; returns the next one of its stream when it `goesOn`.
    ///
    /// What the broker does not take goes once more where it was taken from the table meanwhile. Where nothing goes on,
    /// what follows is left in the table.
    func end(_ record: OutboxRecord, isDelivered: Bool, goesOn: Bool) -> Continuation {
        let continuation = state.withLock { state in
            guard let run = state.runs.removeValue(forKey: record.stream) else { return Continuation() }
            state.weights[run.way, default: 0] -= record.weight + run.weightOfFollowing
            state.weights[.takenOver, default: 0] -= run.weightOfAgain
            let isLast = isDelivered && run.following.isEmpty && run.again.count <= 1
            guard goesOn else { return Continuation(leavesSome: !isLast) }
            let now = ContinuousClock.now
            let isFollowed = isDelivered && !run.following.isEmpty && now < run.end
            let rest = isFollowed ? run.following : isDelivered ? Array(run.again.dropFirst()) : run.again
            let end = isFollowed ? run.end : run.againEnd
            guard let next = rest.first, now < end else { return Continuation(leavesSome: !isLast) }
            var going = Run(next, by: isFollowed ? run.way : .takenOver, until: end)
            going.following = Array(rest.dropFirst())
            state.weights[going.way, default: 0] += next.weight + going.weightOfFollowing
            state.runs[record.stream] = going
            return Continuation(next: next)
        }
        signal.send()
        return continuation
    }

    /// Waits until there is room for what is handed over, or the task is cancelled.
    ///
    /// One waiter, of this and `waitForAll`.
    func waitForRoom() async {
        await wait { $0.weight(.handedOver) < limit }
    }

    /// Waits until the broker has answered for everything, or the task is cancelled.
    func waitForAll() async {
        await wait { $0.runs.isEmpty }
    }

    private func wait(until isReached: (State) -> Bool) async {
        while !state.withLock({ isReached($0) }) {
            guard await signal.wait() else { return }
        }
    }
}

extension OutboxRecord {
    /// What it counts in limits and batches: a dead letter may be as large as a thousand events.
    var weight: Int { 1 + size / 1024 }
}
