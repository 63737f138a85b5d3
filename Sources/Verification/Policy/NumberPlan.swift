// SPDX-License-Identifier: Apache-2.0

/// A table of number-plan overrides, indexed by prefix.
///
/// The longest matching prefix with the number's length decides; of two rows with the same prefix and length, the later
/// one.
package struct NumberPlan: Sendable, Equatable {
    package let overrides: [NumberPlanOverride]

    /// The index in `overrides` by prefix and length.
    private let rows: [RangeKey: Int]

    /// The lengths of the prefixes, longest first.
    private let prefixLengths: [Int]

    package init(_ overrides: [NumberPlanOverride] = []) {
        var rows: [RangeKey: Int] = [:]
        for (index, override) in overrides.enumerated() {
            for length in override.lengths {
                if let key = RangeKey(prefix: override.prefix.utf8, length: length) { rows[key] = index }
            }
        }
        self.overrides = overrides
        self.rows = rows
        prefixLengths = Set(overrides.map(\.prefix.utf8.count)).sorted(by: >)
    }

    package static func == (left: NumberPlan, right: NumberPlan) -> Bool {
        left.overrides == right.overrides
    }

    /// The row that matches a number, or nil.
    package func override(of number: PhoneNumber) -> NumberPlanOverride? {
        guard !rows.isEmpty else { return nil }
        let digits = number.e164.utf8.dropFirst()
        let length = digits.count
        for prefixLength in prefixLengths where prefixLength <= length {
            guard let key = RangeKey(prefix: digits.prefix(prefixLength), length: length) else { continue }
            if let index = rows[key] { return overrides[index] }
        }
        return nil
    }

    /// The facts about a number: those of the matching row, or of `facts`, which is called only without one.
    ///
    /// A disabled range keeps its region, so that a refusal names it.
    package func facts(of number: PhoneNumber, else facts: () -> NumberFacts) -> NumberFacts {
        switch override(of: number)?.verdict {
        case nil:
            return facts()
        case .valid(let region, let type):
            let candidates = region == .unknown ? [] : [region]
            return NumberFacts(region: region, candidates: candidates, isValid: true, type: type, table: .policy)
        case .invalid:
            let other = facts()
            return NumberFacts(
                region: other.region,
                candidates: other.candidates,
                isValid: false,
                type: .unknown,
                table: .policy
            )
        }
    }
}

/// A prefix and the length of the whole number as one integer, so that a lookup creates no strings and hashes one word.
private struct RangeKey: Hashable {
    /// The prefix as a number, then in four bits each the prefix's length and the whole number's length.
    ///
    /// The prefix's length distinguishes prefixes with leading zeros.
    private let bits: UInt64

    /// A key from 1 to 15 digits; nil for other input, since rows come from outside.
    init?(prefix: some Collection<UInt8>, length: Int) {
        guard let digits = Self.number(prefix), (1...15).contains(prefix.count), (0...15).contains(length) else {
            return nil
        }
        bits = digits << 8 | UInt64(prefix.count) << 4 | UInt64(length)
    }

    private static func number(_ digits: some Collection<UInt8>) -> UInt64? {
        guard digits.count <= 15 else { return nil }
        var number: UInt64 = 0
        for digit in digits {
            guard (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(digit) else { return nil }
            number = number * 10 + UInt64(digit - UInt8(ascii: "0"))
        }
        return number
    }
}

/// A correction for a range of phone numbers whose plan in this build is outdated or wrong.
package struct NumberPlanOverride: Sendable, Hashable {
    package enum Verdict: Sendable, Hashable {
        /// Valid numbers of a region's plan; `Region.unknown` for a calling code that belongs to no region.
        case valid(Region, NumberType)

        /// Invalid numbers: the range is disabled.
        case invalid
    }

    /// The first 1 to 15 digits after the `+`, calling code included.
    package let prefix: String

    /// The numbers of digits after the `+`, calling code included.
    package let lengths: Set<Int>
    package let verdict: Verdict

    package static let possibleLengths = 7...15

    package init(prefix: String, lengths: Set<Int>, verdict: Verdict) {
        self.prefix = prefix
        self.lengths = lengths
        self.verdict = verdict
    }
}

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
