// SPDX-License-Identifier: Apache-2.0

import Formats
import PostgresClient
import Synchronization
import Verification

/// The time from which the sweeps of one kind scan their index.
///
/// The index entry of a swept row is dead, but it stays until a vacuum, which waits for every open snapshot. A scan
/// from the oldest entry would pass the dead entries of a whole day. So a sweep starts shortly before the oldest row
/// that the last one left. Now and then a full scan, from the oldest entry, finds rows that became due with an old
/// time.
final class SweepStart: Sendable {
    /// The rows that a sweep left although they were due.
    enum Left {
        case nothing

        /// Some rows, of which the oldest became due at this time.
        case some(since: Timestamp)

        /// Unknown, since the sweep did not scan all due rows.
        case unknown
    }

    private struct State {
        var floor: Timestamp?
        var wholeAt: ContinuousClock.Instant?

        /// The start of the full scan in progress.
        var wholeBegan: ContinuousClock.Instant?
    }

    /// Minimum time between full scans, and the maximum share of the time that they take: a fiftieth.
    ///
    /// After a slow full scan the next one still comes no later than after a failed one.
    private static let interval = Duration.seconds(10)
    private static let share = 50

    /// The pause after a full scan that did not finish: it may have exceeded the statement timeout.
    private static let pause = Duration.seconds(300)

    /// Time within which a row in another worker's open transaction becomes visible, if it does.
    private let margin: Duration
    private let state = Mutex(State())

    init(margin: Duration = .seconds(60)) {
        self.margin = margin
    }

    /// The time before which the last sweep left no due row; nil before the first one.
    var floor: Timestamp? { state.withLock(\.floor) }

    /// The time from which the next sweep scans; nil for a full scan.
    func next(now: ContinuousClock.Instant = .now) -> Timestamp? {
        state.withLock { state in
            if let floor = state.floor, let wholeAt = state.wholeAt, now < wholeAt {
                // This sweep is no full scan: forget the start of one that failed.
                state.wholeBegan = nil
                return floor
            }
            state.wholeBegan = now
            state.wholeAt = now + Self.pause
            return nil
        }
    }

    /// Records an outage during a scan: a full one is due again after the short interval.
    func interrupted(now: ContinuousClock.Instant = .now) {
        state.withLock { state in
            guard state.wholeBegan != nil else { return }
            state.wholeBegan = nil
            state.wholeAt = now + Self.interval
        }
    }

    /// Records what a sweep left, and the database's time of its scan.
    func note(_ left: Left, at time: Timestamp, now: ContinuousClock.Instant = .now) {
        state.withLock { state in
            switch left {
            case .nothing: state.floor = time - margin
            // Only a full scan finds a row with a due time before 1970, such as `-infinity`.
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
    /// Runs a sweep of this kind, and records an outage during it.
    func during<Value>(_ sweep: () async throws -> Value) async throws -> Value {
        do {
            return try await sweep()
        } catch let error as PostgresError where error.isOutage {
            interrupted()
            throw error
        }
    }
}
