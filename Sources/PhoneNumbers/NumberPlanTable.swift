// SPDX-License-Identifier: Apache-2.0

package import Verification

/// The built-in corrections to libphonenumber's metadata of 2022, which Debian 12 installs.
///
/// A row is there only where all numbers of its range are wrong in those metadata, of two kinds: numbers that may get
/// messages (mobile, fixed line or mobile, internet telephony) and are refused or given to another region, and the
/// ranges of the example numbers of the other types. Ranges that have been withdrawn since, and those of fewer than
/// 1000 numbers, are left to the metadata.
///
/// The facts of every row are those of libphonenumber 9.0.35 (2026-07-17); the rows were compared with it, and with the
/// metadata of libphonenumber 8.12.57, on 2026-11-21.
package enum NumberPlanTable {
    /// The table, ready for lookups.
    package static let builtIn = NumberPlan(overrides)

    /// The rows, sorted by region.
    package static let overrides: [NumberPlanOverride] = ranges.split(separator: "\n").flatMap(overrides(in:))

    /// The rows of one line: region, type, lengths with commas between them, prefixes.
    ///
    /// Lengths count all digits after the `+`. A prefix may end in a class such as `[2-46]`, which stands for the four
    /// prefixes that end in 2, 3, 4 and 6. A line that has another form gives no rows.
    static func overrides(in line: Substring) -> [NumberPlanOverride] {
        let words = line.split(separator: " ")
        guard words.count > 3, let region = Region(words[0]), let type = NumberType(rawValue: String(words[1])) else {
            return []
        }
        let lengths = Set(words[2].split(separator: ",").compactMap { Int($0) })
        return words.dropFirst(3).flatMap(prefixes(in:)).map { prefix in
            NumberPlanOverride(prefix: prefix, lengths: lengths, verdict: .valid(region, type))
        }
    }

    /// The prefixes that a word stands for.
    private static func prefixes(in word: Substring) -> [String] {
        guard let bracket = word.firstIndex(of: "[") else { return [String(word)] }
        var digits: [Int] = []
        var isRange = false
        for character in word[word.index(after: bracket)...].prefix(while: { $0 != "]" }) {
            if let digit = character.wholeNumberValue {
                let first = isRange ? digits.last.map { $0 + 1 } ?? digit : digit
                digits += Array(first..<max(first, digit + 1))
            }
            isRange = character == "-"
        }
        return digits.map { "\(word[..<bracket])\($0)" }
    }
}
