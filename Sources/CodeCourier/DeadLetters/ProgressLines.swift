// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// Tells on standard error how far a long piece of work has come, every two seconds.
final class ProgressLines: Sendable {
    private static let interval = Duration.seconds(2)

    private let next = Mutex(ContinuousClock.now + interval)
    private let line: @Sendable (Int) -> String

    init(_ line: @escaping @Sendable (Int) -> String) {
        self.line = line
    }

    func show(_ count: Int) {
        let now = ContinuousClock.now
        let isDue = next.withLock { next in
            guard now >= next else { return false }
            next = now + Self.interval
            return true
        }
        if isDue { printError(line(count)) }
    }
}
