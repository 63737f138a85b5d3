// SPDX-License-Identifier: Apache-2.0

/// The end of a call that a task waits for.
enum CallDeadline {
    /// The lateness of a timer that counts as a freeze of the process.
    private static let freeze = Duration.seconds(1)

    /// Waits until a deadline, or until the task is cancelled.
    ///
    /// After a freeze of the process deadlines have passed while answers wait in the sockets. So a late deadline is
    /// postponed once, and answers are read first: otherwise a message that was accepted would count as unknown.
    static func wait(until end: ContinuousClock.Instant) async {
        // A cancelled sleep ends at once, as intended, so its error is ignored.
        try? await Task.sleep(until: end, clock: .continuous)
        if ContinuousClock.now > end + freeze { try? await Task.sleep(for: freeze / 2) }
    }
}
