// SPDX-License-Identifier: Apache-2.0

import Formats

extension LanguageTag {
    /// The keys under which texts are looked up, the closest first.
    ///
    /// First the tag and its truncations (RFC 4647, section 3.4), with the subtags that CLDR prefers, then texts in
    /// other languages that, by CLDR, its readers understand. If a tag names a script that its language is rarely
    /// written in, texts in that script precede the language's own: `bs-Cyrl` is closer to Serbian than to Bosnian in
    /// Latin letters.
    var catalogKeys: [String] { Self.keysOfCatalog[text] ?? computedKeys }

    /// The precomputed keys of the catalog's own tags, which most requests have.
    private static let keysOfCatalog: [String: [String]] = Dictionary(
        uniqueKeysWithValues: MessageCatalog.languages.compactMap { LanguageTag($0) }.map { ($0.text, $0.computedKeys) }
    )

    private var computedKeys: [String] {
        guard let parts = LanguageParts(self) else { return fallbacks }
        return parts.writtenFallbacks + parts.languageKeys
    }

    /// The key under which the tag's own texts are stored.
    package var catalogKey: String { catalogKeys.first ?? text }

    /// True if the tag's lookup finds one of these keys.
    package func hasText(among keys: Set<String>) -> Bool { !keys.isDisjoint(with: catalogKeys) }
}

/// The subtags of a language tag, with the language that CLDR considers canonical.
private struct LanguageParts {
    private let language: String

    /// The tag's script, or the one that the region uses for the language; nil if both are unknown.
    private let script: String?
    private let isScriptOfRegion: Bool
    private let region: String?

    private let rest: [Substring]

    /// Nil for a private-use tag, which has no language.
    init?(_ tag: LanguageTag) {
        var subtags = tag.text.split(separator: "-")[...]
        guard var named = subtags.popFirst(), named.utf8.count > 1 else { return nil }
        // An extended language replaces its prefix: zh-yue is yue. A three-letter region code of ISO 3166 also fits the
        // grammar here, so it is dropped.
        while let next = subtags.first, next.utf8.count == 3, next.utf8.allSatisfy(\.isASCIILetter) {
            subtags.removeFirst()
            if LanguageTable.knows(String(next)) { named = next }
        }
        var canonical = (LanguageTable.aliases[String(named)] ?? String(named)).split(separator: "-")[...]
        language = canonical.popFirst().map(String.init) ?? ""
        let other = canonical.popFirst(where: \.isScript)
        let otherRegion = canonical.popFirst(where: \.isRegion)
        let own = (subtags.popFirst(where: \.isScript) ?? other).map(String.init)
        region = (subtags.popFirst(where: \.isRegion) ?? otherRegion).map(String.init)
        let written = Self.script(of: language, in: region)
        script = own ?? written
        isScriptOfRegion = own == nil && written != nil
        rest = Array(subtags)
    }

    private static func script(of language: String, in region: String?) -> String? {
        guard let region else { return nil }
        if let script = LanguageTable.scripts["\(language)-\(region)"] { return script }
        // A region writes all Chinese languages in the same script.
        return LanguageTable.isChinese(language) ? LanguageTable.scripts["zh-\(region)"] : nil
    }

    /// The tag and its truncations down to language and script, or language and region.
    ///
    /// A region that determines the script is looked up as that script: `zh-TW` is `zh-Hant`.
    var writtenFallbacks: [String] {
        let head = [language, script, isScriptOfRegion ? nil : region].compactMap(\.self)
        guard head.count > 1 || !rest.isEmpty else { return [] }
        let text = (head + rest.map(String.init)).joined(separator: "-")
        return LanguageTag(text)?.fallbacks.dropLast() ?? []
    }

    /// The keys of the language's text and of the closest texts in the script that the person reads.
    var languageKeys: [String] {
        if language == "zh" { return script == "Hant" ? ["zh-Hant", "zh-Hans"] : ["zh-Hans", "zh-Hant"] }
        let usual = LanguageTable.nearest[language]?.first?.script
        guard let script, script != usual else { return [language] + nearest(to: language, in: usual) }
        return nearest(to: language, in: script) + [language] + nearest(to: language, in: usual)
    }

    /// The closest texts, then those closest to them: a Quechuan language leads to Quechua, which leads to Spanish.
    private func nearest(to language: String, in script: String?) -> [String] {
        func direct(_ language: String) -> [String] {
            LanguageTable.nearest[language]?.filter { $0.script == script }.map(\.key) ?? []
        }
        let first = direct(language)
        return first + first.flatMap(direct)
    }
}

extension ArraySlice<Substring> {
    /// Removes and returns the first subtag if it is of a kind.
    fileprivate mutating func popFirst(where isOfKind: (Substring) -> Bool) -> Substring? {
        guard let first, isOfKind(first) else { return nil }
        return popFirst()
    }
}

extension Substring {
    fileprivate var isScript: Bool { utf8.count == 4 && utf8.allSatisfy(\.isASCIILetter) }

    fileprivate var isRegion: Bool {
        utf8.count == 2 && utf8.allSatisfy(\.isASCIILetter) || utf8.count == 3 && utf8.allSatisfy(\.isASCIIDigit)
    }
}
