// SPDX-License-Identifier: Apache-2.0

/// Passes the first similar lines of a time window, counts the rest, and reports their number at its end.
struct LogThrottle {
    typealias Instant = ContinuousClock.Instant

    /// The key of similar lines.
    struct Key: Hashable {
        let event: String
        let values: [String]
    }

    private struct Window {
        let end: Instant
        var passed = 0
        var suppressed = 0
    }

    private let burst: Int
    private let length: Duration
    private let maximumKeys: Int
    private var windows: [Key: Window] = [:]
    private var nextEnd: Instant?

    /// Creates a throttle that passes `burst` lines of each window.
    init(burst: Int = 5, length: Duration = .seconds(10), maximumKeys: Int = 512) {
        self.burst = burst
        self.length = length
        self.maximumKeys = maximumKeys
    }

    /// True when a line passes.
    ///
    /// Beyond `maximumKeys`, all lines of an event share one window.
    mutating func passes(_ key: Key, at now: Instant) -> Bool {
        let key = windows[key] == nil && windows.count >= maximumKeys ? Key(event: key.event, values: []) : key
        var window = windows[key] ?? Window(end: now + length)
        nextEnd = min(nextEnd ?? window.end, window.end)
        if window.passed < burst { window.passed += 1 } else { window.suppressed += 1 }
        windows[key] = window
        return window.suppressed == 0
    }

    /// Removes the windows that are over, and returns those with suppressed lines.
    mutating func ended(at now: Instant) -> [(key: Key, suppressed: Int)] {
        guard let nextEnd, nextEnd <= now else { return [] }
        let over = windows.filter { $0.value.end <= now }
        for key in over.keys { windows[key] = nil }
        self.nextEnd = windows.values.map(\.end).min()
        return over.filter { $0.value.suppressed > 0 }.map { ($0.key, $0.value.suppressed) }
    }
}
