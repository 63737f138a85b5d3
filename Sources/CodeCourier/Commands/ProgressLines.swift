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

/// Limits the progress lines of a long command to one every two seconds.
struct ProgressClock: Sendable {
    private static let interval = Duration.seconds(2)

    private var last = ContinuousClock.now

    /// The time since the last line, or since the start, when a line is due; else nil.
    mutating func elapsed() -> Duration? {
        let now = ContinuousClock.now
        let elapsed = now - last
        guard elapsed >= Self.interval else { return nil }
        last = now
        return elapsed
    }
}
