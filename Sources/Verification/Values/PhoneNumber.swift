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
        return String(unsafeUninitializedCapacity: digits + 1) { text in
            _ = text.update(fromContentsOf: e164.utf8)
            for place in hidden { text[place] = UInt8(ascii: "*") }
            return digits + 1
        }
    }

    package var description: String { masked }
}

/// A CLDR two-letter region code, `XX` if unknown; in a policy's lists also `001`.
package struct Region: Sendable, Hashable, Comparable, CustomStringConvertible {
    package static let unknown = Region(letters: "XX".utf8)

    /// Numbers whose calling code belongs to no region; `001` is the code of the world in CLDR and libphonenumber.
    ///
    /// They are those of satellite networks (+881) and international ones (+882, +883). Events show them as `XX`, like
    /// all other numbers of no region.
    package static let international = Region(letters: "001".utf8)

    /// The letters as a number, the first one highest: cheap to copy, compare and hash.
    private let letters: UInt32

    package var code: String {
        String(unsafeUninitializedCapacity: 3) { text in
            for place in 0..<3 { text[place] = UInt8(truncatingIfNeeded: letters >> (16 - 8 * UInt32(place))) }
            return text[2] == 0 ? 2 : 3
        }
    }

    /// A region from exactly two letters `A`–`Z`, or nil.
    package init?(_ text: some StringProtocol) {
        let bytes = text.utf8
        guard bytes.count == 2, bytes.allSatisfy({ (0x41...0x5a).contains($0) }) else { return nil }
        self.init(letters: bytes)
    }

    /// A region from two or three letters.
    private init(letters: some Collection<UInt8>) {
        self.letters = letters.reduce(0) { $0 << 8 | UInt32($1) } << (letters.count == 2 ? 8 : 0)
    }

    package var description: String { code }

    package static func < (left: Region, right: Region) -> Bool {
        left.letters < right.letters
    }
}

/// The facts about a phone number by a numbering plan.
package struct NumberFacts: Sendable, Hashable {
    /// The region of the whole number; `XX` if no region's plan contains it.
    package let region: Region

    /// The regions that the number may belong to: the one found, or all that share its calling code.
    ///
    /// Sorted; empty if the calling code belongs to no region.
    package let candidates: [Region]

    /// True if some region's plan contains the number.
    package let isValid: Bool

    package let type: NumberType

    /// The table that the facts are from, which a refusal names.
    package let table: Table

    /// The tables of numbering plans; later ones override earlier ones.
    package enum Table: Sendable, Hashable {
        /// The plans embedded in the build.
        case metadata

        /// The overrides of the policy in force.
        case policy
    }

    package init(
        region: Region,
        candidates: [Region],
        isValid: Bool,
        type: NumberType,
        table: Table = .metadata
    ) {
        self.region = region
        self.candidates = candidates
        self.isValid = isValid
        self.type = type
        self.table = table
    }
}

/// The type of line of a number, in libphonenumber's terms.
package enum NumberType: String, Sendable, Hashable, CaseIterable {
    case mobile
    case fixedLine
    case fixedLineOrMobile
    case tollFree
    case premiumRate
    case sharedCost
    case voip
    case personalNumber
    case pager
    case uan
    case voicemail
    case unknown
}

package protocol NumberDirectory: Sendable {
    /// The facts about one number; total for every `PhoneNumber`, and without I/O.
    func facts(of number: PhoneNumber) -> NumberFacts
}
