// SPDX-License-Identifier: Apache-2.0

/// Numbers reserved for fiction by numbering authorities: a test number among them can never belong to a person.
package enum ReservedNumbers {
    /// The ranges, as patterns in which `x` is any digit.
    package static let patterns = [
        // NANP: 555-0100 to 555-0199 in every area code (ATIS-0300115).
        "+1xxx55501xx",
        // United Kingdom: 07700 900000 to 900999 (Ofcom, numbers for use in TV and radio drama).
        "+447700900xxx",
        // France: 06 39 98 00 00 to 06 39 98 99 99 (Arcep, decision 2018-0881).
        "+3363998xxxx",
    ]

    package static func contain(_ number: PhoneNumber) -> Bool {
        patterns.contains { pattern in
            pattern.utf8.count == number.e164.utf8.count
                && zip(pattern.utf8, number.e164.utf8).allSatisfy { $0 == UInt8(ascii: "x") || $0 == $1 }
        }
    }
}
