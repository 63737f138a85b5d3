// SPDX-License-Identifier: Apache-2.0

package import Formats

/// The log's own time: the time of its newest line plus the time passed since, so that it advances without new lines.
///
/// It never goes back: lines that are no newer, such as another program's, neither stop nor set it.
package struct LogClock {
    private var setting: (time: Timestamp, at: ContinuousClock.Instant)?

    package init() {}

    /// Advances the clock to the time of the newest line.
    package mutating func reach(_ newest: Timestamp, at instant: ContinuousClock.Instant) {
        if let now = now(at: instant), now >= newest { return }
        setting = (newest, instant)
    }

    /// The current time; nil before the first line.
    package func now(at instant: ContinuousClock.Instant) -> Timestamp? {
        setting.map { $0.time + $0.at.duration(to: instant) }
    }
}
