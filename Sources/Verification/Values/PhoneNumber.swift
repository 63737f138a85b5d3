// SPDX-License-Identifier: Apache-2.0

/// A phone number in E.164 form: `+`, a digit 1–9, then 6 to 14 digits.
///
/// The check is strict: vanity letters and longer strings, which libphonenumber's parser takes, are no numbers.
/// The type describes itself masked, so that a number reaches a log only by asking for `e164`.
package struct PhoneNumber: Sendable, Hashable, CustomStringConvertible {
    /// The whole number, `+` included.
    package let e164: String

    package init?(_ text: String) {
        let bytes = text.utf8
        guard (8...16).contains(bytes.count), bytes.first == UInt8(ascii: "+") else { return nil }
        let digits = bytes.dropFirst()
        guard digits.first != UInt8(ascii: "0") else { return nil }
        guard digits.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }) else { return nil }
        e164 = text
    }

    /// The number with all but its first and its last four digits starred, such as `+1******3434`.
    ///
    /// Short numbers keep fewer: never more than half of the digits show.
    package var masked: String {
        let digits = e164.utf8.count - 1
        let tail = min(4, max(0, digits / 2 - 1))
        let hidden = 2..<1 + digits - tail
        let bytes = e164.utf8.enumerated().map { place, byte in hidden.contains(place) ? UInt8(ascii: "*") : byte }
        return String(decoding: bytes, as: UTF8.self)
    }

    package var description: String { masked }
}
