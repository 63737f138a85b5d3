// SPDX-License-Identifier: Apache-2.0

import Verification

/// A phone number as people write it on a command line: `+49 (151) 234-567.89`, `0049151…`, or only digits behind a plus.
enum PhoneArgument {
    /// The number in the form of E.164 if the text may be one, otherwise the text.
    static func normalized(_ text: String) -> String {
        var digits = text.filter { !$0.isWhitespace && !"-.()/\u{2010}\u{2011}\u{2012}\u{2013}".contains($0) }
        if digits.hasPrefix("00") { digits = "+" + digits.dropFirst(2) }
        return PhoneNumber(digits) == nil ? text : digits
    }

    static func parse(_ text: String) -> PhoneNumber? { PhoneNumber(normalized(text)) }
}
