// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// The times at which a pool last met a sign of a server outage, and a lock conflict.
///
/// Signs of an outage are a lost connection, a connection made to replace a lost one, and an error that is not the
/// fault of the work.
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

    func occurred(within time: Duration) -> Bool {
        last.withLock(\.outage).map { .now - $0 < time } ?? false
    }

    func sawContention(within time: Duration) -> Bool {
        last.withLock(\.contention).map { .now - $0 < time } ?? false
    }
}
