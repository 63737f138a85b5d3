// SPDX-License-Identifier: Apache-2.0

import Synchronization
import Verification

/// Where the sweeps of one kind begin to look.
///
/// The index entry of what was swept is dead, but it stays until a vacuum, and whoever begins at the oldest passes by the
/// entries of a day. So a sweep begins shortly before the last one that left nothing behind; and at the oldest every ten
/// seconds, for what has become due with an old time.
final class SweepStart: Sendable {
    private struct State {
        var floor: Timestamp?
        var wholeAt: ContinuousClock.Instant?
    }

    /// What a transaction of another worker hides from a sweep shows up within this time, if it does.
    private static let margin = Duration.seconds(60)
    private static let interval = Duration.seconds(10)

    private let state = Mutex(State())

    /// The time from which on the next sweep looks; nil for the oldest.
    func next(now: ContinuousClock.Instant = .now) -> Timestamp? {
        state.withLock { state in
            if let wholeAt = state.wholeAt, now < wholeAt { return state.floor }
            state.wholeAt = now + Self.interval
            return nil
        }
    }

    /// Takes whether a sweep left something that is due, and when it looked by the database's clock.
    func note(leavesSome: Bool, at time: Timestamp) {
        state.withLock { $0.floor = leavesSome ? nil : time - Self.margin }
    }
}
