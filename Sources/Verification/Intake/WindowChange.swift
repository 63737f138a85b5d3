// SPDX-License-Identifier: Apache-2.0

package import Formats

/// A window that includes the admissions of a batch.
package struct WindowChange: Sendable {
    package let window: LimitWindow

    /// The time from which the window no longer matters.
    package let expiry: Timestamp

    /// The limits that the window serves, and the time of the batch's admissions.
    private let limits: [RateLimit]
    private let now: Timestamp

    package init(_ window: LimitWindow, under limits: [RateLimit], at now: Timestamp) {
        self.window = window
        self.limits = limits
        self.now = now
        expiry = window.expiry(under: limits) ?? now
    }

    /// The window merged with one that another batch wrote first; nil if some admission would then exceed a limit.
    package func following(_ earlier: LimitWindow) -> WindowChange? {
        let both = window.joined(with: earlier, under: limits, at: now)
        return both.holds(limits, at: now) ? WindowChange(both, under: limits, at: now) : nil
    }
}

extension IntakeChanges {
    /// The changes merged with windows that other transactions created after the facts were read; nil if a decision
    /// would differ.
    package func following(_ begun: [LimitKey: LimitWindow]) -> IntakeChanges? {
        var changes = self
        for (key, earlier) in begun {
            if fullWindows[key] != nil { return nil }
            guard let change = windows[key] else { continue }
            guard let behind = change.following(earlier) else { return nil }
            changes.windows[key] = behind
        }
        return changes
    }
}
