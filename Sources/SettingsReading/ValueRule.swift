// SPDX-License-Identifier: Apache-2.0

import Formats

/// Parses one kind of value from a text, whether a YAML scalar or an environment variable.
///
/// YAML's own types are not used: `NO` is Norway, `2026-11-20` a version and `012345` a code, so the text of every
/// scalar counts.
package struct ValueRule<Value> {
    /// The valid form, as the end of a sentence: `must be a whole number from 1 to 5`.
    package let requirement: String

    /// The members of a JSON schema, as far as it can state the form.
    package let schema: String

    /// The least and the greatest value, where there are any.
    package let bounds: String?

    /// Parses a text; nil when it is invalid.
    package let parse: (String) -> Value?

    /// The text for a value.
    package let format: (Value) -> String

    package init(
        requirement: String,
        schema: String = Self.textSchema,
        bounds: String? = nil,
        parse: @escaping (String) -> Value?,
        format: @escaping (Value) -> String = { "\($0)" }
    ) {
        self.requirement = requirement
        self.schema = schema
        self.bounds = bounds
        self.parse = parse
        self.format = format
    }

    /// The schema of any text.
    package static var textSchema: String { #""type":"string","minLength":1"# }
}

extension ValueRule where Value: FixedWidthInteger {
    package static func integer(in range: ClosedRange<Value>) -> Self {
        let bounds = "\(range.lowerBound) to \(range.upperBound)"
        let schema = #""type":"integer","minimum":\#(range.lowerBound),"maximum":\#(range.upperBound)"#
        return Self(requirement: "must be a whole number from \(bounds)", schema: schema, bounds: bounds) { text in
            guard text.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }) else { return nil }
            return Value(text).flatMap { range.contains($0) ? $0 : nil }
        }
    }
}

extension ValueRule where Value == Double {
    package static func number(in range: ClosedRange<Double>) -> Self {
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
    package static func duration(in range: ClosedRange<Duration>) -> Self {
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
    package static var boolean: Self {
        Self(requirement: "must be true or false", schema: #""type":"boolean""#) { text in
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
    package static var choice: Self { choice(synonyms: [:]) }

    /// One of a closed list of words, or a synonym, in any case.
    package static func choice(synonyms: [String: Value]) -> Self {
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

/// Parses and formats durations: a whole number and a unit, such as `500ms`, `60s`, `5m`, `24h`.
package enum DurationText {
    private static let units: [(name: String, milliseconds: Int64)] = [
        ("h", 3_600_000), ("m", 60_000), ("s", 1000), ("ms", 1),
    ]

    /// The longest valid duration: a year.
    package static let longest = Duration.seconds(8760 * 3600)

    /// Parses a duration; nil for another form or more than a year.
    package static func parse(_ text: String) -> Duration? {
        let digits = text.utf8.prefix { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
        guard (1...12).contains(digits.count), let number = Int64(Substring(digits)) else { return nil }
        let name = text.utf8.dropFirst(digits.count)
        guard let unit = units.first(where: { $0.name.utf8.elementsEqual(name) }) else { return nil }
        let (milliseconds, overflow) = number.multipliedReportingOverflow(by: unit.milliseconds)
        guard !overflow else { return nil }
        let duration = Duration.milliseconds(milliseconds)
        return duration <= longest ? duration : nil
    }

    /// A duration in the largest unit that states it exactly, rounded down to milliseconds.
    package static func format(_ duration: Duration) -> String {
        let (seconds, attoseconds) = duration.components
        let milliseconds = seconds * 1000 + attoseconds / 1_000_000_000_000_000
        let unit = units.first { milliseconds != 0 && milliseconds.isMultiple(of: $0.milliseconds) }
        guard let unit else { return "0s" }
        return "\(milliseconds / unit.milliseconds)\(unit.name)"
    }
}
