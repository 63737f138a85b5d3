// SPDX-License-Identifier: Apache-2.0

/// Lets the first of like lines through, counts the rest of their window, and tells that number when it is over.
struct LogThrottle {
    typealias Instant = ContinuousClock.Instant

    /// What makes lines alike.
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

    /// A throttle that lets `burst` lines of a window pass.
    init(burst: Int = 5, length: Duration = .seconds(10), maximumKeys: Int = 512) {
        self.burst = burst
        self.length = length
        self.maximumKeys = maximumKeys
    }

    /// Whether a line passes.
    ///
    /// What makes too many lines different from each other is taken for one.
    mutating func passes(_ key: Key, at now: Instant) -> Bool {
        let key = windows[key] == nil && windows.count >= maximumKeys ? Key(event: key.event, values: []) : key
        var window = windows[key] ?? Window(end: now + length)
        nextEnd = min(nextEnd ?? window.end, window.end)
        if window.passed < burst { window.passed += 1 } else { window.suppressed += 1 }
        windows[key] = window
        return window.suppressed == 0
    }

    /// Takes the windows that are over, with the number of lines that did not pass where there were any.
    mutating func ended(at now: Instant) -> [(key: Key, suppressed: Int)] {
        guard let nextEnd, nextEnd <= now else { return [] }
        let over = windows.filter { $0.value.end <= now }
        for key in over.keys { windows[key] = nil }
        self.nextEnd = windows.values.map(\.end).min()
        return over.filter { $0.value.suppressed > 0 }.map { ($0.key, $0.value.suppressed) }
    }
}
