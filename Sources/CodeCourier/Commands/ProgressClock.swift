// SPDX-License-Identifier: Apache-2.0

/// Tells when a line about a long piece of work is due: every two seconds.
struct ProgressClock: Sendable {
    private static let interval = Duration.seconds(2)

    private var last = ContinuousClock.now

    /// The time since the last line or since the beginning, when a line is due.
    mutating func elapsed() -> Duration? {
        let now = ContinuousClock.now
        let elapsed = now - last
        guard elapsed >= Self.interval else { return nil }
        last = now
        return elapsed
    }
}
