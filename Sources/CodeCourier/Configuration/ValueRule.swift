// SPDX-License-Identifier: Apache-2.0

import Verification

/// Parses one kind of value from a text, whether a YAML scalar or an environment variable.
///
/// YAML's own types are not used: `NO` is Norway, `2026-11-20` a version and `012345` a code, so the text of every
/// scalar counts.
struct ValueRule<Value> {
    /// The valid form, as the end of a sentence: `must be a whole number from 1 to 5`.
    let requirement: String

    /// The members of a JSON schema, as far as it can state the form.
    var schema = Self.textSchema

    /// The least and the greatest value, where there are any.
    var bounds: String?

    /// Parses a text; nil when it is invalid.
    let parse: (String) -> Value?

    /// The text for a value.
    var format: (Value) -> String = { "\($0)" }

    /// The schema of any text.
    static var textSchema: String { #""type":"string","minLength":1"# }
}

extension ValueRule where Value: FixedWidthInteger {
    static func integer(in range: ClosedRange<Value>) -> Self {
        let bounds = "\(range.lowerBound) to \(range.upperBound)"
        let schema = #""type":"integer","minimum":\#(range.lowerBound),"maximum":\#(range.upperBound)"#
        return Self(requirement: "must be a whole number from \(bounds)", schema: schema, bounds: bounds) { text in
            guard text.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }) else { return nil }
            return Value(text).flatMap { range.contains($0) ? $0 : nil }
        }
    }
}

extension ValueRule where Value == Double {
    static func number(in range: ClosedRange<Double>) -> Self {
        Self(requirement: "must be a number from \(range.lowerBound) to \(range.upperBound)") { text in
            let allowed = text.utf8.allSatisfy { byte in
                (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) || byte == UInt8(ascii: ".")
            }
            guard allowed, let number = Double(text), range.contains(number) else { return nil }
            return number
        }
    }
}

extension ValueRule where Value == Duration {
    static func duration(in range: ClosedRange<Duration>) -> Self {
        let bounds = "\(DurationText.format(range.lowerBound)) to \(DurationText.format(range.upperBound))"
        return Self(
            requirement: "must be a duration such as 500ms, 60s, 5m or 1h, from \(bounds)",
            schema: #""type":"string","pattern":"^[0-9]{1,12}(ms|s|m|h)$""#,
            bounds: bounds,
            parse: { text in DurationText.parse(text).flatMap { range.contains($0) ? $0 : nil } },
            format: DurationText.format
        )
    }
}

extension ValueRule where Value == Bool {
    static var boolean: Self {
        Self(requirement: "must be true or false") { text in
            switch text.lowercased() {
            case "true", "yes", "on": true
            case "false", "no", "off": false
            default: nil
            }
        }
    }
}

extension ValueRule where Value: RawRepresentable<String> & CaseIterable {
    /// One of a closed list of words, in any case.
    static var choice: Self { choice(synonyms: [:]) }

    /// One of a closed list of words, or a synonym, in any case.
    static func choice(synonyms: [String: Value]) -> Self {
        let words = Value.allCases.map(\.rawValue)
        return Self(
            requirement: "must be one of \(words.joined(separator: ", "))",
            schema: "\"type\":\"string\",\"enum\":\(words)",
            parse: { text in
                let word = text.lowercased()
                return Value.allCases.first { $0.rawValue.lowercased() == word } ?? synonyms[word]
            },
            format: \.rawValue
        )
    }
}

extension ValueRule where Value == RateLimit {
    /// A count in a unit of time, such as `10/s`.
    static var rate: Self {
        let units: [String: Duration] = ["s": .seconds(1), "min": .seconds(60), "h": .seconds(3600)]
        let count = ValueRule<Int>.integer(in: 1...1_000_000)
        return Self(requirement: "must be a rate such as 10/s, 600/min or 5000/h, from 1 to 1000000 a unit") { text in
            let parts = text.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
            guard parts.count == 2, let count = count.parse(parts[0]), let unit = units[parts[1]] else { return nil }
            return RateLimit(count: count, per: unit)
        }
    }
}
