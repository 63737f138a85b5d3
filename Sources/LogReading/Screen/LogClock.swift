// SPDX-License-Identifier: Apache-2.0

package import Verification

/// A log's own time: that of its newest line and what has passed since, so that it goes on while nobody writes.
///
/// It never goes back: lines that are no newer, such as another program's, neither hold it up nor set it.
package struct LogClock {
    private var setting: (time: Timestamp, at: ContinuousClock.Instant)?

    package init() {}

    /// Takes the time of the newest line.
    package mutating func reach(_ newest: Timestamp, at instant: ContinuousClock.Instant) {
        if let now = now(at: instant), now >= newest { return }
        setting = (newest, instant)
    }

    /// Nil before the first line.
    package func now(at instant: ContinuousClock.Instant) -> Timestamp? {
        setting.map { $0.time + $0.at.duration(to: instant) }
    }
}
