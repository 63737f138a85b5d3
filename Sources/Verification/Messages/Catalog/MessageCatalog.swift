// SPDX-License-Identifier: Apache-2.0

/// The built-in texts of an SMS, one for each language.
///
/// They name minutes by a unit that has one form for every number, or by its abbreviation, so no plural rules are
/// needed. Where a language would inflect a name, the name stands before a colon or beside a noun.
///
/// A text from right to left begins with the code or a word of its language, and such a word stands between the app's
/// name and any number. So it displays in the right order, whatever letters the name has, without marks of direction:
/// those cost units, make parsers of codes stumble, and old phones show them as boxes.
package enum MessageCatalog {
    /// A language's text in the forms that `MessageForm` names.
    struct Wording: Sendable {
        let full: MessageTemplate
        let withoutMinutes: MessageTemplate

        /// `minutes` is what follows `code` at once, space included.
        init(code: String, minutes: String) {
            full = MessageTemplate(code + minutes)
            withoutMinutes = MessageTemplate(code)
        }
    }

    /// A row of the tables: the language, what names the code, and what follows to tell how long it is valid.
    typealias Row = (language: String, code: String, minutes: String)

    static let english = Wording(
        code: "{code} is your {appName} verification code.",
        minutes: " It expires in {minutes} min."
    )

    /// Without words of any language: a name in ASCII makes it GSM-7, which holds twice as much.
    static let nameAndCode = MessageTemplate("{appName}: {code}")

    static let rows: [Row] = latin + otherScripts

    private static let wordings: [String: Wording] = Dictionary(
        rows.map { ($0.language, Wording(code: $0.code, minutes: $0.minutes)) } + [("en", english)]
    ) { first, _ in first }

    /// Every language that has a text, in the order of their names.
    package static let languages: [String] = wordings.keys.sorted()

    static subscript(language: String) -> Wording? { wordings[language] }
}
