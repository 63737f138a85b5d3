// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// When a pool last lost a connection, or made one in the place of a lost one.
final class ConnectionChanges: Sendable {
    private let last = Mutex<ContinuousClock.Instant?>(nil)

    func note() {
        last.withLock { $0 = .now }
    }

    func isRecent(within time: Duration) -> Bool {
        last.withLock(\.self).map { .now - $0 < time } ?? false
    }
}
