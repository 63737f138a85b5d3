// SPDX-License-Identifier: Apache-2.0

import Formats

/// Parses and formats durations: a whole number and a unit, such as `500ms`, `60s`, `5m`, `24h`.
package enum DurationText {
    private static let units: [(name: String, milliseconds: Int64)] = [
        ("h", 3_600_000), ("m", 60_000), ("s", 1000), ("ms", 1),
    ]

    /// The longest valid duration: a year.
    package static let longest = Duration.seconds(8760 * 3600)

    /// Parses a duration; nil for another form or more than a year.
    package static func parse(_ text: String) -> Duration? {
        let digits = text.utf8.prefix { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
        guard (1...12).contains(digits.count), let number = Int64(Substring(digits)) else { return nil }
        let name = text.utf8.dropFirst(digits.count)
        guard let unit = units.first(where: { $0.name.utf8.elementsEqual(name) }) else { return nil }
        let (milliseconds, overflow) = number.multipliedReportingOverflow(by: unit.milliseconds)
        guard !overflow else { return nil }
        let duration = Duration.milliseconds(milliseconds)
        return duration <= longest ? duration : nil
    }

    /// A duration in the largest unit that states it exactly, rounded down to milliseconds.
    package static func format(_ duration: Duration) -> String {
        let (seconds, attoseconds) = duration.components
        let milliseconds = seconds * 1000 + attoseconds / 1_000_000_000_000_000
        let unit = units.first { milliseconds != 0 && milliseconds.isMultiple(of: $0.milliseconds) }
        guard let unit else { return "0s" }
        return "\(milliseconds / unit.milliseconds)\(unit.name)"
    }
}
