// SPDX-License-Identifier: Apache-2.0

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
