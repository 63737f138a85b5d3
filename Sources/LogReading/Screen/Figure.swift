// SPDX-License-Identifier: Apache-2.0

import Formats

/// Formats numbers and times for people.
enum Figure {
    /// At most four digits, such as `0.25`, `12.5`, `1,234` and `48.1k`.
    static func short(_ number: Double) -> String {
        switch number {
        case ..<10: decimal(number, places: 2)
        case ..<100: decimal(number, places: 1)
        case ..<10_000: whole(number)
        case ..<999_500: decimal(number / 1e3, places: 1) + "k"
        case ..<999_500_000: decimal(number / 1e6, places: 1) + "M"
        default: decimal(number / 1e9, places: 1) + "G"
        }
    }

    /// All digits with thousands separators, such as `1,234,567`.
    static func whole(_ number: Double) -> String { Int(min(max(number.rounded(), 0), 1e18)).grouped }

    /// A count with its noun, such as `1 gap` and `12 gaps`.
    static func count(_ number: Int, _ thing: String) -> String {
        "\(number.grouped) \(thing)\(number == 1 ? "" : "s")"
    }

    static func percent(_ share: Double) -> String { decimal(share * 100, places: share < 0.1 ? 2 : 1) + " %" }

    /// The two greatest units, such as `2 d 3 h`, `4 min 5 s` and `1.2 s`.
    static func span(_ duration: Duration) -> String {
        let seconds = max(0, duration.microseconds / 1_000_000)
        return switch seconds {
        case ..<10: decimal(Double(max(0, duration.microseconds)) / 1e6, places: 1) + " s"
        case ..<60: "\(seconds) s"
        case ..<3600: "\(seconds / 60) min \(seconds % 60) s"
        case ..<86_400: "\(seconds / 3600) h \(seconds / 60 % 60) min"
        default: "\(seconds / 86_400) d \(seconds / 3600 % 24) h"
        }
    }

    /// The time in UTC, `2026-11-20 12:34:56`.
    static func time(_ time: Timestamp) -> String {
        let text = time.rfc3339
        return "\(text.prefix(10)) \(clock(time))"
    }

    /// The time of day in UTC, `12:34:56`.
    static func clock(_ time: Timestamp) -> String { String(time.rfc3339.dropFirst(11).prefix(8)) }

    private static func decimal(_ number: Double, places: Int) -> String {
        let scale = places == 2 ? 100.0 : 10.0
        let scaled = Int64(min(max((number * scale).rounded(), 0), 1e18))
        let digits = String(scaled % Int64(scale))
        var fraction = Substring(String(repeating: "0", count: places - digits.count) + digits)
        while fraction.last == "0" { fraction.removeLast() }
        let wholes = whole(Double(scaled / Int64(scale)))
        return fraction.isEmpty ? wholes : "\(wholes).\(fraction)"
    }
}
