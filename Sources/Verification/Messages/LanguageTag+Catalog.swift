// SPDX-License-Identifier: Apache-2.0

extension LanguageTag {
    /// The names under which texts are looked up, from the tag itself to its bare language.
    ///
    /// Along the tag (RFC 4647, section 3.4), with the names that CLDR takes for another's: a deprecated code, a macro
    /// language, or a region that writes a script of its own.
    var catalogKeys: [String] { fallbacks.map { Self.aliases[$0] ?? $0 } }

    /// The name under which the tag's own texts are kept.
    package var catalogKey: String { Self.aliases[text] ?? text }

    private static let aliases = [
        "zh": "zh-Hans", "zh-TW": "zh-Hant", "zh-HK": "zh-Hant", "zh-MO": "zh-Hant", "zh-yue": "zh-Hant",
        "yue": "zh-Hant", "yue-Hans": "zh-Hans", "yue-CN": "zh-Hans",
        "cmn": "zh-Hans", "cmn-Hant": "zh-Hant", "cmn-TW": "zh-Hant",
        "no": "nb", "nn": "nb", "iw": "he", "in": "id", "tl": "fil", "mo": "ro",
        "sh": "sr-Latn", "sr-ME": "sr-Latn", "cnr": "sr-Latn", "pa-Arab": "ur", "pa-PK": "ur",
    ]
}
