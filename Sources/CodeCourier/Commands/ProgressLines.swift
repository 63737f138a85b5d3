// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// Prints the progress of a long command on standard error, at the rate of `ProgressClock`.
final class ProgressLines: Sendable {
    private let clock = Mutex(ProgressClock())
    private let line: @Sendable (Int) -> String

    init(_ line: @escaping @Sendable (Int) -> String) {
        self.line = line
    }

    func show(_ count: Int) {
        let isDue = clock.withLock { $0.elapsed() != nil }
        if isDue { printError(line(count)) }
    }
}
