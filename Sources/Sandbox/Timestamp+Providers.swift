// SPDX-License-Identifier: Apache-2.0

import Formats

// Times in the formats of providers; RFC 3339 is `rfc3339`.
extension Timestamp {
    /// The format of Vonage's receipts, `2026-11-20 09:41:00 +0000`.
    var databaseDate: String { "\(rfc3339.prefix(10)) \(clock) +0000" }

    /// The format of carriers, `2611200941`: year, month, day, hour and minute in two digits each.
    var shortDate: String { String(databaseDate.filter(\.isNumber).dropFirst(2).prefix(10)) }

    /// RFC 2822 in Twilio's form, as in `Fri, 20 Nov 2026 09:41:00 +0000`.
    var mailDate: String {
        let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
        let month = months[(Int(rfc3339.dropFirst(5).prefix(2)) ?? 1) - 1]
        // 1970-01-01 was a Thursday.
        let weekdays = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"]
        let weekday = weekdays[Int(max(0, microseconds) / 86_400_000_000 % 7)]
        return "\(weekday), \(rfc3339.dropFirst(8).prefix(2)) \(month) \(rfc3339.prefix(4)) \(clock) +0000"
    }

    private var clock: Substring { rfc3339.dropFirst(11).prefix(8) }
}
