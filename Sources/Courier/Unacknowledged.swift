// SPDX-License-Identifier: Apache-2.0

import Synchronization
import Verification

/// The records that the broker was given and has not answered for, of each stream one at a time.
///
/// What follows in its stream waits here for that one, so that no event overtakes an earlier one. There is a limit for what
/// was handed over and one for what was taken over, which comes again and again and must not keep out what is new.
///
/// A broker that is well answers within milliseconds. What has no answer after half a second is of a partition or a topic that
/// takes nothing now: it counts no more against what others need, up to four times the limit.
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

        /// When it was begun, and what was taken over again meanwhile.
        let slice: Slice
        var againSlice: Slice

        /// What follows that record.
        var following: [OutboxRecord] = []

        /// That record and what follows it, taken from the table once more because the broker was silent for a lease.
        var again: [OutboxRecord] = []
        var againEnd: ContinuousClock.Instant

        var weightOfFollowing: Int { following.reduce(0) { $0 + $1.weight } }
        var weightOfAgain: Int { again.reduce(0) { $0 + $1.weight } }

        init(_ first: OutboxRecord, by way: Way, until end: ContinuousClock.Instant, _ slice: Slice) {
            self.way = way
            self.end = end
            self.slice = slice
            sequence = first.sequence
            againEnd = end
            againSlice = slice
        }
    }

    /// A tenth of a second.
    private typealias Slice = Int

    /// The slices in which a record counts against the limit.
    private static let youngest = 5

    /// The limit of all, by the one of those that count.
    private static let most = 4

    private struct Weight {
        var all = 0
        private var slices: [Slice: Int] = [:]

        mutating func add(_ weight: Int, _ slice: Slice) {
            all += weight
            let sum = slices[slice, default: 0] + weight
            slices[slice] = sum == 0 ? nil : sum
        }

        func young(at now: Slice) -> Int {
            slices.reduce(0) { $1.key > now - Unacknowledged.youngest ? $0 + $1.value : $0 }
        }
    }

    private struct State {
        var runs: [UUIDValue: Run] = [:]
        var weights: [Way: Weight] = [:]

        mutating func add(_ weight: Int, _ way: Way, _ slice: Slice) {
            weights[way, default: Weight()].add(weight, slice)
        }

        func hasRoom(_ way: Way, _ limit: Int, at now: Slice) -> Bool {
            guard let weight = weights[way] else { return true }
            return weight.all < limit || weight.all < limit * Unacknowledged.most && weight.young(at: now) < limit
        }
    }

    private let start = ContinuousClock.now

    private let state = Mutex(State())
    private let limit: Int
    private let signal = Signal()

    /// `limit` is the weight of each way from which on there is no room: it holds less, and what came last.
    init(limit: Int) {
        self.limit = limit
    }

    var count: Int { state.withLock { $0.runs.values.reduce(0) { $0 + 1 + $1.following.count } } }

    func hasRoom(for way: Way, now: ContinuousClock.Instant = .now) -> Bool {
        state.withLock { $0.hasRoom(way, limit, at: slice(now)) }
    }

    private func slice(_ now: ContinuousClock.Instant) -> Slice { Int((now - start) / .milliseconds(100)) }

    /// Whether a record of the stream is with the broker.
    func contains(_ stream: UUIDValue) -> Bool { state.withLock { $0.runs[stream] != nil } }

    /// Takes records, and returns those that are to be given to the broker now: of each stream the first.
    ///
    /// Where a record of the stream is there already, those that begin with that one go when the broker does not take it;
    /// others are left in the table, where the lease on them ends. After `end` nothing follows any more.
    func begin(
        _ records: [OutboxRecord],
        by way: Way,
        until end: ContinuousClock.Instant,
        now: ContinuousClock.Instant = .now
    ) -> [OutboxRecord] {
        let slice = slice(now)
        return state.withLock { state in
            var first: [OutboxRecord] = []
            var begun: Set<UUIDValue> = []
            for record in records {
                guard var run = state.runs[record.stream] else {
                    state.runs[record.stream] = Run(record, by: way, until: end, slice)
                    state.add(record.weight, way, slice)
                    begun.insert(record.stream)
                    first.append(record)
                    continue
                }
                if begun.contains(record.stream) {
                    guard record.sequence > run.following.last?.sequence ?? run.sequence else { continue }
                    run.following.append(record)
                    state.add(record.weight, way, run.slice)
                } else if record.sequence == run.sequence {
                    state.add(-run.weightOfAgain, .takenOver, run.againSlice)
                    state.add(record.weight, .takenOver, slice)
                    run.again = [record]
                    run.againSlice = slice
                    run.againEnd = end
                } else if let last = run.again.last, record.sequence == last.sequence + 1 {
                    state.add(record.weight, .takenOver, run.againSlice)
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
        let slice = slice(.now)
        let continuation = state.withLock { state in
            guard let run = state.runs.removeValue(forKey: record.stream) else { return Continuation() }
            state.add(-record.weight - run.weightOfFollowing, run.way, run.slice)
            state.add(-run.weightOfAgain, .takenOver, run.againSlice)
            let isLast = isDelivered && run.following.isEmpty && run.again.count <= 1
            guard goesOn else { return Continuation(leavesSome: !isLast) }
            let now = ContinuousClock.now
            let isFollowed = isDelivered && !run.following.isEmpty && now < run.end
            let rest = isFollowed ? run.following : isDelivered ? Array(run.again.dropFirst()) : run.again
            let end = isFollowed ? run.end : run.againEnd
            guard let next = rest.first, now < end else { return Continuation(leavesSome: !isLast) }
            var going = Run(next, by: isFollowed ? run.way : .takenOver, until: end, slice)
            going.following = Array(rest.dropFirst())
            state.add(next.weight + going.weightOfFollowing, going.way, slice)
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
        await wait { $0.hasRoom(.handedOver, limit, at: slice(.now)) }
    }

    /// Waits until the broker has answered for everything, or the task is cancelled.
    func waitForAll() async {
        await wait { $0.runs.isEmpty }
    }

    /// Lets the waiter look whether there is room by time alone.
    func wake() { signal.send() }

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
