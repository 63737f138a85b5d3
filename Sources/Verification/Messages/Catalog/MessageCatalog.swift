// SPDX-License-Identifier: Apache-2.0

import Formats

/// The built-in texts of SMS and e-mails: the files of `Texts`, one for each language.
///
/// They state minutes with a unit that has one form for every number, or its abbreviation, so no plural rules are
/// needed. If a language would inflect a name, the text places the name before a colon or beside a noun.
///
/// A right-to-left text begins with the code or a word of its language, and has such a word between the app's name and
/// any number. So it displays in the right order, whatever letters the name has, without direction marks: those use up
/// capacity, break parsers of codes, and appear as boxes on old phones.
package enum MessageCatalog {
    /// A text without words of any language: with an ASCII name it is GSM-7, which holds twice as much as UCS-2.
    static let nameAndCode = MessageTemplate("{appName}: {code}")

    private static let read: (texts: [String: LanguageTexts], flaws: [LanguageTexts.Flaw]) =
        Embedded.all.reduce(into: ([:], [])) { read, file in
            do throws(LanguageTexts.Flaw) {
                let texts = try LanguageTexts(file: file.name, file.text)
                read.texts[texts.language] = texts
            } catch {
                read.flaws.append(error)
            }
        }

    /// The errors in the files, each of which disables a language; a test requires that there are none.
    static var flaws: [LanguageTexts.Flaw] { read.flaws }

    /// Every language that has texts, sorted by name.
    package static let languages: [String] = read.texts.keys.sorted()

    static subscript(language: String) -> LanguageTexts? { read.texts[language] }

    static let english: LanguageTexts = {
        guard let english = read.texts["en"] else { preconditionFailure("no English texts: \(flaws)") }
        return english
    }()

    /// The texts of the first tag that has any, its own or those of a fallback; otherwise the English ones.
    static func find(_ tags: [String]) -> LanguageTexts {
        for tag in tags {
            for key in LanguageTag(tag)?.catalogKeys ?? [] {
                if let texts = read.texts[key] { return texts }
            }
        }
        return english
    }
}
