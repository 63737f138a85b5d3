// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// When a pool last met what an outage of the server brings, a connection lost, one made in the place of a lost one, or
/// work refused that is not at fault; and when locks of others were last in its way.
final class OutageSigns: Sendable {
    private struct Times {
        var outage: ContinuousClock.Instant?
        var contention: ContinuousClock.Instant?
    }

    private let last = Mutex(Times())

    func note() {
        last.withLock { $0.outage = .now }
    }

    func noteContention() {
        last.withLock { $0.contention = .now }
    }

    func wereSeen(within time: Duration) -> Bool {
        last.withLock(\.outage).map { .now - $0 < time } ?? false
    }

    func sawContention(within time: Duration) -> Bool {
        last.withLock(\.contention).map { .now - $0 < time } ?? false
    }
}
