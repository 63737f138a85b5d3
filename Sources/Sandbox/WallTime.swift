// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials

/// A wall-clock time: milliseconds since 1970-01-01T00:00:00Z.
struct WallTime: Sendable, Hashable {
    let milliseconds: Int64

    static func now() -> WallTime {
        WallTime(milliseconds: Int64(Date().timeIntervalSince1970 * 1000))
    }

    /// RFC 3339 with milliseconds, as in `2026-11-20T09:41:00.000Z`.
    var internetDate: String {
        let parts = Parts(self)
        return "\(padded(parts.year, 4))-\(padded(parts.month))-\(padded(parts.day))"
            + "T\(parts.clock).\(padded(parts.millisecond, 3))Z"
    }

    /// The format of Vonage's receipts, `2026-11-20 09:41:00 +0000`.
    var databaseDate: String {
        let parts = Parts(self)
        return "\(padded(parts.year, 4))-\(padded(parts.month))-\(padded(parts.day)) \(parts.clock) +0000"
    }

    /// The format of carriers, `2611200941`: year, month, day, hour and minute in two digits each.
    var shortDate: String {
        String(databaseDate.filter(\.isNumber).dropFirst(2).prefix(10))
    }

    /// RFC 2822 in Twilio's form, as in `Fri, 20 Nov 2026 09:41:00 +0000`.
    var mailDate: String {
        let parts = Parts(self)
        let weekdays = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"]
        let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
        let date = "\(padded(parts.day)) \(months[parts.month - 1]) \(padded(parts.year, 4))"
        return "\(weekdays[parts.weekday]), \(date) \(parts.clock) +0000"
    }
}

/// The proleptic Gregorian parts of a time in UTC.
private struct Parts {
    let year: Int
    let month: Int
    let day: Int
    /// Days since the last Thursday, the weekday of 1970-01-01.
    let weekday: Int
    let clock: String
    let millisecond: Int

    init(_ time: WallTime) {
        let total = Int(time.milliseconds)
        let days = total.flooredQuotient(86_400_000)
        let inDay = total - days * 86_400_000
        // Years begin in March here, so that the leap day is a year's last: Howard Hinnant's civil_from_days.
        let shifted = days + 719_468
        let era = shifted.flooredQuotient(146_097)
        let dayOfEra = shifted - era * 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let monthFromMarch = (5 * dayOfYear + 2) / 153
        day = dayOfYear - (153 * monthFromMarch + 2) / 5 + 1
        month = monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9
        year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
        weekday = days - days.flooredQuotient(7) * 7
        clock = "\(padded(inDay / 3_600_000)):\(padded(inDay / 60_000 % 60)):\(padded(inDay / 1000 % 60))"
        millisecond = inDay % 1000
    }
}

private func padded(_ number: Int, _ width: Int = 2) -> String {
    let digits = String(number)
    return String(repeating: "0", count: max(0, width - digits.count)) + digits
}

extension Int {
    fileprivate func flooredQuotient(_ divisor: Int) -> Int {
        self >= 0 ? self / divisor : -((divisor - 1 - self) / divisor)
    }
}
