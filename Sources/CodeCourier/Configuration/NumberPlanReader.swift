// SPDX-License-Identifier: Apache-2.0

import Formats
import SettingsReading
import Verification

/// Reads the operator's corrections to the numbering plans.
///
///     numberPlan:
///       - { prefix: "+22901", lengths: [13], region: BJ, type: mobile, source: "ARCEP Bénin", checkedOn: 2026-11-20 }
///       - { prefix: "+88213", type: invalid, source: "abuse in October", checkedOn: 2026-11-20 }
///
/// `lengths` counts all digits after the `+`, calling code included. A range of type `invalid` is switched off: it has
/// no region, and covers every length when none is stated. `source` and `checkedOn` document the source and the last
/// check for the file's readers: they are not stored and decide nothing.
enum NumberPlanReader {
    static func read(_ value: YAMLValue) -> NumberPlan {
        guard let elements = value.list(of: "ranges") else { return NumberPlan() }
        var overrides: [NumberPlanOverride] = []
        var lengthsOfPrefix: [String: Set<Int>] = [:]
        for element in elements {
            guard let override = override(element) else { continue }
            let earlier = lengthsOfPrefix[override.prefix, default: []]
            if !earlier.isDisjoint(with: override.lengths) {
                element.fault("repeats the prefix and a length of an earlier element; keep one")
            }
            lengthsOfPrefix[override.prefix] = earlier.union(override.lengths)
            overrides.append(override)
        }
        return NumberPlan(overrides)
    }

    private static func override(_ element: YAMLValue) -> NumberPlanOverride? {
        let keys = ["prefix", "lengths", "region", "type", "source", "checkedOn"]
        guard let mapping = element.mapping(keys: keys) else { return nil }
        let prefix = mapping.required("prefix", such: "\"+22901\"")?.read(.prefix)
        let type = mapping.required("type", such: "mobile")?.read(ValueRule<RangeType>.choice)
        let source = mapping.required("source", such: "\"ARCEP Bénin, 2024-11-30\"")?.read(.text(upTo: 200))
        let checkedOn = mapping.required("checkedOn", such: "2026-11-20")?.read(.date)
        let verdict = type.flatMap { Self.verdict(of: $0, in: mapping) }
        let lengths = prefix.flatMap { Self.lengths(in: mapping, prefix: $0, isRequired: type != .invalid) }
        guard let prefix, let lengths, let verdict, source != nil, checkedOn != nil else { return nil }
        return NumberPlanOverride(prefix: prefix, lengths: lengths, verdict: verdict)
    }

    private static func verdict(of type: RangeType, in mapping: YAMLMapping) -> NumberPlanOverride.Verdict? {
        guard let type = type.numberType else {
            mapping["region"]?.fault("must be left out, because a range of type invalid has no region")
            return .invalid
        }
        return mapping.required("region", such: "BJ")?.read(.region).map { .valid($0, type) }
    }

    private static func lengths(in mapping: YAMLMapping, prefix: String, isRequired: Bool) -> Set<Int>? {
        let shortest = max(prefix.utf8.count, NumberPlanOverride.possibleLengths.lowerBound)
        let range = shortest...NumberPlanOverride.possibleLengths.upperBound
        guard let value = isRequired ? mapping.required("lengths", such: "[13]") : mapping["lengths"] else {
            return isRequired ? nil : Set(range)
        }
        guard let lengths = value.list(of: "numbers of digits", .integer(in: range)) else { return nil }
        if value.isEmptyList { value.fault("must have at least one number of digits") }
        if Set(lengths).count < lengths.count { value.fault("names a number of digits more than once; keep one") }
        return Set(lengths)
    }
}

/// The type of a range in the policy file: a type of number, or `invalid` for a range that is switched off.
private enum RangeType: String, CaseIterable {
    case mobile, fixedLine, fixedLineOrMobile, tollFree, premiumRate, sharedCost, voip, personalNumber, pager, uan
    case voicemail, invalid

    /// The type of the numbers; nil for `invalid`.
    var numberType: NumberType? { NumberType(rawValue: rawValue) }
}

extension ValueRule where Value == String {
    /// The first digits of a number, returned without the `+`.
    fileprivate static var prefix: Self {
        Self(requirement: "must be + and the first 1 to 15 digits of the numbers, in quotes") { text in
            let digits = text.utf8.dropFirst()
            guard text.utf8.first == UInt8(ascii: "+"), (1...15).contains(digits.count) else { return nil }
            let isNumber = digits.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
            return isNumber && digits.first != UInt8(ascii: "0") ? String(text.dropFirst()) : nil
        }
    }
}

extension ValueRule where Value == Timestamp {
    /// A date, as its first moment in UTC.
    fileprivate static var date: Self {
        Self(requirement: "must be a date such as 2026-11-20") { text in
            text.utf8.count == 10 ? Timestamp(rfc3339: "\(text)T00:00:00Z") : nil
        }
    }
}
