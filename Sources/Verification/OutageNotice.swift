// SPDX-License-Identifier: Apache-2.0

/// Says when to tell of an outage: as it begins, again while it lasts, and when it is over.
///
/// Of an outage that begins behind many short ones the first line may be one too many for the log.
package struct OutageNotice: Sendable {
    /// How long after the last time it is told again.
    package static let interval = Duration.seconds(30)

    private var told: ContinuousClock.Instant?

    package init() {}

    /// Whether something fails, as far as is known.
    package var isOn: Bool { told != nil }

    /// Notes a failure; true when it is to be told.
    package mutating func failed(at now: ContinuousClock.Instant = .now) -> Bool {
        if let told, now < told + Self.interval { return false }
        told = now
        return true
    }

    /// Notes a success; true when that ends an outage.
    package mutating func succeeded() -> Bool {
        defer { told = nil }
        return isOn
    }
}
