// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// When a pool last met what an outage of the server brings: a connection lost, one made in the place of a lost one, or
/// work refused that is not at fault.
final class OutageSigns: Sendable {
    private let last = Mutex<ContinuousClock.Instant?>(nil)

    func note() {
        last.withLock { $0 = .now }
    }

    func wereSeen(within time: Duration) -> Bool {
        last.withLock(\.self).map { .now - $0 < time } ?? false
    }
}
