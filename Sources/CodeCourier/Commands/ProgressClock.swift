// SPDX-License-Identifier: Apache-2.0

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
