// SPDX-License-Identifier: Apache-2.0

import PostgresClient
import Synchronization
import Verification

/// Where the sweeps of one kind begin to look.
///
/// The index entry of what was swept is dead, but it stays until a vacuum, and that waits for every open snapshot: who
/// begins at the oldest passes by the entries of a day. So a sweep begins shortly before what the last one had left, and
/// only now and then at the oldest, for what has become due with an old time.
final class SweepStart: Sendable {
    /// What a sweep left that was due already.
    enum Left {
        case nothing

        /// Something, the oldest of it due since this time.
        case some(since: Timestamp)

        /// It did not look at all of it.
        case unknown
    }

    private struct State {
        var floor: Timestamp?
        var wholeAt: ContinuousClock.Instant?

        /// When the whole look began that is under way.
        var wholeBegan: ContinuousClock.Instant?
    }

    /// Whole looks take a fiftieth of the time at most, and come every ten seconds at most; one that a slow database kept long
    /// is no reason to stay away for longer than after one that failed.
    private static let interval = Duration.seconds(10)
    private static let share = 50

    /// After a whole look that did not come to its end: the time for a statement may have been over.
    private static let pause = Duration.seconds(300)

    /// What a transaction of another worker hides from a sweep shows up within this time, if it does.
    private let margin: Duration
    private let state = Mutex(State())

    init(margin: Duration = .seconds(60)) {
        self.margin = margin
    }

    /// The time before which the last sweep left nothing; nil before the first one.
    var floor: Timestamp? { state.withLock(\.floor) }

    /// The time from which on the next sweep looks; nil for the oldest.
    func next(now: ContinuousClock.Instant = .now) -> Timestamp? {
        state.withLock { state in
            if let floor = state.floor, let wholeAt = state.wholeAt, now < wholeAt {
                // The time of a whole look that failed is none of this one.
                state.wholeBegan = nil
                return floor
            }
            state.wholeBegan = now
            state.wholeAt = now + Self.pause
            return nil
        }
    }

    /// Notes that the database was away during a look: a whole one comes as soon as it is back.
    func interrupted(now: ContinuousClock.Instant = .now) {
        state.withLock { state in
            guard state.wholeBegan != nil else { return }
            state.wholeBegan = nil
            state.wholeAt = now + Self.interval
        }
    }

    /// Takes what a sweep left, and when it looked by the database's clock.
    func note(_ left: Left, at time: Timestamp, now: ContinuousClock.Instant = .now) {
        state.withLock { state in
            switch left {
            case .nothing: state.floor = time - margin
            // What has no time, as from the beginning of all time, is only found by a whole look.
            case .some(let since): state.floor = since.microseconds > 0 ? min(since, time) - margin : nil
            case .unknown: break
            }
            guard let began = state.wholeBegan else { return }
            state.wholeBegan = nil
            state.wholeAt = began + max(Self.interval, min(began.duration(to: now) * Self.share, Self.pause))
        }
    }
}

extension SweepStart {
    /// Runs a sweep of this kind, and notes where the database was away meanwhile.
    func during<Value>(_ sweep: () async throws -> Value) async throws -> Value {
        do {
            return try await sweep()
        } catch let error as PostgresError where error.isOutage {
            interrupted()
            throw error
        }
    }
}
