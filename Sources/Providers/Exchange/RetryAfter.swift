// SPDX-License-Identifier: Apache-2.0

import Formats
import Verification

/// Parses the header `Retry-After` (RFC 9110, section 10.2.3): a number of seconds, or a date.
enum RetryAfter {
    private static let longest = Duration.seconds(86_400)

    /// The time to wait, at most a day; nil for an invalid value and for a time in the past.
    static func wait(_ text: String, at now: Timestamp) -> Duration? {
        if let seconds = Int64(text) { return seconds < 0 ? nil : min(Duration.seconds(seconds), longest) }
        guard let time = time(text), time > now else { return nil }
        return min(time - now, longest)
    }

    /// Parses a date in the form that every sender must use, `IMF-fixdate`: `Sun, 06 Nov 1994 08:49:37 GMT`.
    private static func time(_ text: String) -> Timestamp? {
        let parts = text.split(separator: " ")
        guard parts.count == 6, parts[5] == "GMT", let index = MailDate.months.firstIndex(of: String(parts[2])) else {
            return nil
        }
        let month = index < 9 ? "0\(index + 1)" : "\(index + 1)"
        return Timestamp(rfc3339: "\(parts[3])-\(month)-\(parts[1])T\(parts[4])Z")
    }
}
