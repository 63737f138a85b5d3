// SPDX-License-Identifier: Apache-2.0

/// A well-formed BCP 47 language tag in its usual case, such as `zh-Hant-TW`.
///
/// RFC 5646, section 2.1, without the grandfathered tags; subtags need not be registered.
package struct LanguageTag: Sendable, Hashable, CustomStringConvertible {
    package let text: String

    package init?(_ text: String) {
        if text.isPlainLanguageTag {
            self.text = text
            return
        }
        guard text.utf8.count <= 64 else { return nil }
        let subtags = text.utf8.split(separator: UInt8(ascii: "-"), omittingEmptySubsequences: false)
        for subtag in subtags {
            guard (1...8).contains(subtag.count), subtag.allSatisfy(\.isASCIILetterOrDigit) else { return nil }
        }
        var parser = LanguageTagParser(subtags: subtags.map { String(decoding: $0, as: UTF8.self).lowercased() })
        guard parser.parse() else { return nil }
        self.text = parser.canonical.joined(separator: "-")
    }

    /// The tag itself, then its truncations from the end, in the lookup order of RFC 4647, section 3.4.
    ///
    /// A single letter or digit before a removed subtag is removed with it.
    package var fallbacks: [String] {
        guard text.utf8.contains(UInt8(ascii: "-")) else { return [text] }
        var subtags = text.split(separator: "-")
        var tags: [String] = []
        while !subtags.isEmpty {
            tags.append(subtags.joined(separator: "-"))
            subtags.removeLast()
            if subtags.last?.utf8.count == 1 { subtags.removeLast() }
        }
        return tags
    }

    package var description: String { text }
}

/// Parses the subtags of a language tag in the order of the grammar.
private struct LanguageTagParser {
    let subtags: [String]
    private var index = 0
    private(set) var canonical: [String] = []

    init(subtags: [String]) {
        self.subtags = subtags
    }

    /// True if the subtags, each 1 to 8 letters or digits, form a tag.
    mutating func parse() -> Bool {
        if next == "x" { return privateUse() }
        guard take(where: { (2...8).contains($0.count) && $0.isLetters }) else { return false }
        if (canonical.first ?? "").utf8.count <= 3 {
            for _ in 0..<3 { _ = take(where: { $0.count == 3 && $0.isLetters }) }
        }
        _ = take(where: { $0.count == 4 && $0.isLetters }, as: { $0.prefix(1).uppercased() + $0.dropFirst() })
        _ = take(where: { ($0.count == 2 && $0.isLetters) || ($0.count == 3 && $0.isDigits) }, as: { $0.uppercased() })
        while take(where: { (5...8).contains($0.count) || ($0.count == 4 && $0.startsWithDigit) }) {}
        guard extensions() else { return false }
        return index == subtags.count || privateUse()
    }

    private var next: String? { index < subtags.count ? subtags[index] : nil }

    /// Extensions: a letter or digit other than `x`, used once, then one or more subtags of at least two characters.
    private mutating func extensions() -> Bool {
        var singletons: Set<String> = []
        while let singleton = next, singleton.utf8.count == 1, singleton != "x" {
            guard singletons.insert(singleton).inserted, take(where: { _ in true }) else { return false }
            guard take(where: { $0.count >= 2 }) else { return false }
            while take(where: { $0.count >= 2 }) {}
        }
        return true
    }

    private mutating func privateUse() -> Bool {
        guard take(where: { $0 == "x" }), take(where: { _ in true }) else { return false }
        while take(where: { _ in true }) {}
        return true
    }

    private mutating func take(
        where accepts: (String) -> Bool,
        as spell: (String) -> String = { $0 }
    ) -> Bool {
        guard let subtag = next, accepts(subtag) else { return false }
        canonical.append(spell(subtag))
        index += 1
        return true
    }
}

extension String {
    /// True for the common case: two letters of a language, with or without two of a region, in their usual case.
    fileprivate var isPlainLanguageTag: Bool {
        let bytes = utf8
        guard bytes.count == 2 || bytes.count == 5 else { return false }
        return zip(bytes, "aa-AA".utf8).allSatisfy { byte, place in
            switch place {
            case UInt8(ascii: "a"): (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte)
            case UInt8(ascii: "A"): (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte)
            default: byte == place
            }
        }
    }

    fileprivate var isLetters: Bool { utf8.allSatisfy(\.isASCIILetter) }
    fileprivate var isDigits: Bool { utf8.allSatisfy(\.isASCIIDigit) }
    fileprivate var startsWithDigit: Bool { utf8.first?.isASCIIDigit == true }
}

extension LanguageTag {
    /// Reads the name of a locale as phones, browsers and servers write it; nil if it names no language.
    ///
    /// BCP 47 unchanged; Java's and Android's `pt_BR` and `zh_CN_#Hans`; POSIX's `de_DE.UTF-8@euro`; Apple's
    /// `en_US@calendar=gregorian`; and the list of `Accept-Language`, of which the first entry with the highest weight
    /// counts. Of formats other than BCP 47 only language, script and region are used.
    package init?(locale text: String) {
        if let tag = LanguageTag(text) {
            self = tag
            return
        }
        guard text.utf8.count <= 512 else { return nil }
        let tags = text.split(separator: ",").compactMap(Self.weighted)
        guard let first = tags.max(by: { $0.weight < $1.weight }) else { return nil }
        self = first.tag
    }

    /// One entry of `Accept-Language` (RFC 9110, section 12.5.4), such as `en;q=0.9`.
    private static func weighted(_ entry: Substring) -> (tag: LanguageTag, weight: Double)? {
        let parts = entry.split(separator: ";", omittingEmptySubsequences: false).map { $0.trimmingBlanks }
        guard let name = parts.first, let tag = named(name) else { return nil }
        let weight = parts.dropFirst().first { $0.hasPrefix("q=") }.map { Double($0.dropFirst(2)) ?? 0 } ?? 1
        return weight > 0 ? (tag, weight) : nil
    }

    /// The language, script and region of a locale's name.
    ///
    /// POSIX names a script after the `@`, as in `sr_RS@latin`; other modifiers are ignored.
    private static func named(_ name: Substring) -> LanguageTag? {
        let modifier = name.split(separator: "@").dropFirst().first
        let subtags = name.prefix { $0 != "." && $0 != "@" }.split { $0 == "_" || $0 == "-" || $0 == "#" }
        guard let language = subtags.first, (2...8).contains(language.utf8.count) else { return nil }
        let rest = subtags.dropFirst().prefix { $0.utf8.count > 1 }
        let extended =
            language.utf8.count > 3
            ? []
            : rest.prefix(3).prefix { part in
                part.utf8.count == 3 && part.utf8.allSatisfy(\.isASCIILetter)
            }
        let script =
            rest.first { $0.utf8.count == 4 && $0.utf8.allSatisfy(\.isASCIILetter) }
            ?? modifier.flatMap { scripts[$0.lowercased()] }
        let region = rest.first { part in
            part.utf8.count == 2 && part.utf8.allSatisfy(\.isASCIILetter)
                || part.utf8.count == 3 && part.utf8.allSatisfy(\.isASCIIDigit)
        }
        return LanguageTag(([language] + extended + [script, region].compactMap(\.self)).joined(separator: "-"))
    }

    private static let scripts: [String: Substring] = [
        "latin": "Latn", "cyrillic": "Cyrl", "devanagari": "Deva", "arabic": "Arab",
    ]
}

extension Substring {
    /// The text without spaces and tabs at both ends.
    fileprivate var trimmingBlanks: Substring {
        let start = drop { $0 == " " || $0 == "\t" }
        guard let last = start.lastIndex(where: { $0 != " " && $0 != "\t" }) else { return start.prefix(0) }
        return start[...last]
    }
}
