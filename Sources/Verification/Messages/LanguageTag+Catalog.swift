// SPDX-License-Identifier: Apache-2.0

extension LanguageTag {
    /// The names under which texts are looked up, the nearest first.
    ///
    /// Along the tag (RFC 4647, section 3.4) under the names that CLDR gives its subtags, then the texts in other
    /// languages that CLDR says its readers read. Where a tag names a script that its language is seldom written in,
    /// these go before the language's own text: `bs-Cyrl` is nearer to Serbian than to Bosnian in Latin letters.
    var catalogKeys: [String] { Self.keysOfCatalog[text] ?? computedKeys }

    /// The names for the tags that most requests have, those of the catalog itself.
    private static let keysOfCatalog: [String: [String]] = Dictionary(
        uniqueKeysWithValues: MessageCatalog.languages.compactMap { LanguageTag($0) }.map { ($0.text, $0.computedKeys) }
    )

    private var computedKeys: [String] {
        guard let parts = LanguageParts(self) else { return fallbacks }
        return parts.writtenFallbacks + parts.languageKeys
    }

    /// The name under which the tag's own texts are kept.
    package var catalogKey: String { catalogKeys.first ?? text }

    /// True where one of some texts would be sent for the tag.
    package func hasText(among keys: Set<String>) -> Bool { !keys.isDisjoint(with: catalogKeys) }
}

/// A language tag by its subtags, with the language that CLDR takes for the canonical one.
private struct LanguageParts {
    private let language: String

    /// As the tag says, or as the region writes the language; nil where neither tells.
    private let script: String?
    private let isScriptOfRegion: Bool
    private let region: String?

    /// Variants and extensions.
    private let rest: [Substring]

    /// Nil for a private tag, which has no language.
    init?(_ tag: LanguageTag) {
        var subtags = tag.text.split(separator: "-")[...]
        guard var named = subtags.popFirst(), named.utf8.count > 1 else { return nil }
        // An extended language stands for itself: zh-yue is yue. ISO 3166's three letters are well-formed there, too.
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
        // Regions write all languages of China in the same characters.
        return LanguageTable.isChinese(language) ? LanguageTable.scripts["zh-\(region)"] : nil
    }

    /// The tag and its truncations down to language and script, or language and region.
    ///
    /// A region that decides the script is looked up as that script: `zh-TW` is `zh-Hant`.
    var writtenFallbacks: [String] {
        let head = [language, script, isScriptOfRegion ? nil : region].compactMap(\.self)
        guard head.count > 1 || !rest.isEmpty else { return [] }
        let text = (head + rest.map(String.init)).joined(separator: "-")
        return LanguageTag(text)?.fallbacks.dropLast() ?? []
    }

    /// The names of the language's text and of the nearest ones in the script that the person reads.
    var languageKeys: [String] {
        if language == "zh" { return script == "Hant" ? ["zh-Hant", "zh-Hans"] : ["zh-Hans", "zh-Hant"] }
        let usual = LanguageTable.nearest[language]?.first?.script
        guard let script, script != usual else { return [language] + nearest(to: language, in: usual) }
        return nearest(to: language, in: script) + [language] + nearest(to: language, in: usual)
    }

    /// The nearest texts, and those that are nearest to them: a language of Quechua leads to Quechua, which leads to Spanish.
    private func nearest(to language: String, in script: String?) -> [String] {
        func direct(_ language: String) -> [String] {
            LanguageTable.nearest[language]?.filter { $0.script == script }.map(\.key) ?? []
        }
        let first = direct(language)
        return first + first.flatMap(direct)
    }
}

extension ArraySlice<Substring> {
    /// Takes the first subtag if it is one of a kind.
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
