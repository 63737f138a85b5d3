// SPDX-License-Identifier: Apache-2.0

/// Decides when an outage is logged: at its start, at intervals while it lasts, and at its end.
///
/// If an outage follows many short ones, the log's rate limit may drop its first line.
package struct OutageNotice: Sendable {
    package static let interval = Duration.seconds(30)

    private var reportedAt: ContinuousClock.Instant?

    package init() {}

    /// True during an outage, as far as is known.
    package var isOn: Bool { reportedAt != nil }

    /// Records a failure; returns true if it should be logged.
    package mutating func failed(at now: ContinuousClock.Instant = .now) -> Bool {
        if let reportedAt, now < reportedAt + Self.interval { return false }
        reportedAt = now
        return true
    }

    /// Records a success; returns true if it ends an outage.
    package mutating func succeeded() -> Bool {
        defer { reportedAt = nil }
        return isOn
    }
}
