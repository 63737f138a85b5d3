// SPDX-License-Identifier: Apache-2.0

import Formats

/// A phone number in E.164 format: `+`, a digit 1–9, then 6 to 14 digits.
///
/// The check is strict: vanity letters and longer strings, which libphonenumber's parser accepts, are rejected. The
/// description is masked, so that only code that reads `e164` can write a number to a log.
package struct PhoneNumber: Sendable, Hashable, Redacted {
    /// The whole number, including the `+`.
    package let e164: String

    package init?(_ text: String) {
        let bytes = text.utf8
        guard (8...16).contains(bytes.count), bytes.first == UInt8(ascii: "+") else { return nil }
        let digits = bytes.dropFirst()
        guard digits.first != UInt8(ascii: "0") else { return nil }
        guard digits.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }) else { return nil }
        e164 = text
    }

    /// The number with all digits except the first and the last four replaced by stars, such as `+1******3434`.
    ///
    /// Short numbers show fewer: never more than half of the digits.
    package var masked: String {
        let digits = e164.utf8.count - 1
        let tail = min(4, max(0, digits / 2 - 1))
        let hidden = 2..<1 + digits - tail
        let bytes = e164.utf8.enumerated().map { place, byte in hidden.contains(place) ? UInt8(ascii: "*") : byte }
        return String(decoding: bytes, as: UTF8.self)
    }

    package var description: String { masked }
}
