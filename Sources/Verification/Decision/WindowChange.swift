// SPDX-License-Identifier: Apache-2.0

/// A window with the admissions of a batch.
package struct WindowChange: Sendable {
    package let window: LimitWindow

    /// When it may be forgotten.
    package let expiry: Timestamp

    /// The limits that count it, and when the batch was let through.
    private let limits: [RateLimit]
    private let now: Timestamp

    package init(_ window: LimitWindow, under limits: [RateLimit], at now: Timestamp) {
        self.window = window
        self.limits = limits
        self.now = now
        expiry = window.expiry(under: limits) ?? now
    }

    /// The same behind what another batch let through first; nil where some of it would have been refused then.
    package func following(_ earlier: LimitWindow) -> WindowChange? {
        let both = window.joined(with: earlier, under: limits, at: now)
        return both.holds(limits, at: now) ? WindowChange(both, under: limits, at: now) : nil
    }
}

extension IntakeChanges {
    /// The same behind windows that others have begun since the facts were read; nil where something would be decided
    /// otherwise.
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
