// SPDX-License-Identifier: Apache-2.0

/// The built-in texts of SMS and e-mails: the files of `Texts`, one for each language.
///
/// They name minutes by a unit that has one form for every number, or by its abbreviation, so no plural rules are
/// needed. Where a language would inflect a name, the name stands before a colon or beside a noun.
///
/// A text from right to left begins with the code or a word of its language, and such a word stands between the app's
/// name and any number. So it displays in the right order, whatever letters the name has, without marks of direction:
/// those cost units, make parsers of codes stumble, and old phones show them as boxes.
package enum MessageCatalog {
    /// Without words of any language: a name in ASCII makes it GSM-7, which holds twice as much.
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

    /// The flaws of the files, each of which costs a language its texts; the tests allow none.
    static var flaws: [LanguageTexts.Flaw] { read.flaws }

    /// Every language that has texts, in the order of their names.
    package static let languages: [String] = read.texts.keys.sorted()

    static subscript(language: String) -> LanguageTexts? { read.texts[language] }

    static let english: LanguageTexts = {
        guard let english = read.texts["en"] else { preconditionFailure("no English texts: \(flaws)") }
        return english
    }()

    /// The texts for the first of some tags that has any along its fallbacks, else the English ones.
    static func find(_ tags: [String]) -> LanguageTexts {
        for tag in tags {
            for key in LanguageTag(tag)?.catalogKeys ?? [] {
                if let texts = read.texts[key] { return texts }
            }
        }
        return english
    }
}
