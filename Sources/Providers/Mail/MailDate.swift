// SPDX-License-Identifier: Apache-2.0

import Glibc
import Verification

/// Formats times for mail headers (RFC 5322, section 3.3): `Sat, 21 Nov 2026 05:10:00 +0000`.
enum MailDate {
    static func text(_ time: Timestamp) -> String {
        var seconds = time_t(max(0, time.microseconds / 1_000_000))
        var parts = tm()
        guard gmtime_r(&seconds, &parts) != nil else { return "Thu, 1 Jan 1970 00:00:00 +0000" }
        let day = days[Int(parts.tm_wday) % 7]
        let month = months[Int(parts.tm_mon) % 12]
        let clock = [parts.tm_hour, parts.tm_min, parts.tm_sec].map { $0 < 10 ? "0\($0)" : "\($0)" }
        return "\(day), \(parts.tm_mday) \(month) \(parts.tm_year + 1900) \(clock.joined(separator: ":")) +0000"
    }

    private static let days = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"]
    static let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
}
