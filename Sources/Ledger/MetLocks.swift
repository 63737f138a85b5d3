// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// When a batch last met rows that another transaction locks.
///
/// For as long as that is recent, batches look for locked rows before they wait for any: with a transaction that hangs,
/// each batch would else wait once.
final class MetLocks: Sendable {
    private static let memory = Duration.seconds(2)

    private let last = Mutex<ContinuousClock.Instant?>(nil)

    var areRecent: Bool {
        guard let last = last.withLock(\.self) else { return false }
        return last.duration(to: .now) < Self.memory
    }

    func note() {
        last.withLock { $0 = .now }
    }
}
