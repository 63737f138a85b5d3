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

/// The built-in texts of one language; the e-mail texts suit both a sign-in and the verification of an address.
struct LanguageTexts: Sendable {
    let language: String

    /// The SMS, in the forms of `MessageForm`.
    let full: MessageTemplate
    let withoutMinutes: MessageTemplate

    /// All forms of the SMS, the longest first.
    let smsForms: [(name: MessageForm, template: MessageTemplate)]

    let emailTitle: String

    /// The sentence before the link, with `{minutes}`.
    let emailLink: MessageTemplate
    let emailButton: String

    /// The sentence about the code beside a link, with `{code}` and `{minutes}`.
    let emailCode: MessageTemplate
    let emailIgnore: String
}

extension LanguageTexts {
    /// The keys of a language's file.
    enum Key: String, CaseIterable {
        case sms, smsMinutes, emailTitle, emailLink, emailButton, emailCode, emailIgnore

        /// The placeholders that the text must have, each once.
        var places: Set<MessageTemplate.Place> {
            switch self {
            case .sms: [.code, .appName]
            case .smsMinutes, .emailLink: [.minutes]
            case .emailCode: [.code, .minutes]
            case .emailTitle, .emailButton, .emailIgnore: []
            }
        }
    }

    /// An error in a file, worded as a sentence that begins with the file's name and the key.
    struct Flaw: Error, Equatable, CustomStringConvertible {
        let description: String

        init(_ file: String, _ key: some StringProtocol, _ words: String) {
            description = "\(file): \(key) \(words)"
        }
    }

    /// Reads `<language>.yaml`: comments, and each key once with its text in double quotes on the same line.
    ///
    /// This subset of YAML needs no library. A text has no escapes.
    init(file: String, _ content: String) throws(Flaw) {
        var texts: [Key: String] = [:]
        for line in content.utf8.split(separator: UInt8(ascii: "\n")).map(Substring.init) where line.first != "#" {
            let name = line.prefix { $0 != ":" }
            guard let key = Key(rawValue: String(name)) else {
                throw Flaw(file, name, "is not among \(Key.allCases.map(\.rawValue).joined(separator: ", "))")
            }
            guard let text = Self.quoted(line.dropFirst(name.count)) else {
                throw Flaw(file, name, "must have a text in double quotes, without double quotes or backslashes in it")
            }
            guard texts.updateValue(text, forKey: key) == nil else { throw Flaw(file, name, "is there twice") }
            guard MessageTemplate(text).hasExactly(key.places) else {
                let places = MessageTemplate.Place.allCases.filter(key.places.contains).map { "{\($0.rawValue)}" }
                let words = places.isEmpty ? "" : "\(places.joined(separator: " and ")) once and "
                throw Flaw(file, name, "must have \(words)no other braces")
            }
        }
        func text(_ key: Key) throws(Flaw) -> String {
            guard let text = texts[key] else { throw Flaw(file, key.rawValue, "is missing") }
            return text
        }
        language = String(file.prefix { $0 != "." })
        full = MessageTemplate(try text(.sms) + text(.smsMinutes))
        withoutMinutes = MessageTemplate(try text(.sms))
        smsForms = [
            (.full, full), (.withoutMinutes, withoutMinutes), (.nameAndCode, MessageCatalog.nameAndCode),
        ]
        emailTitle = try text(.emailTitle)
        emailLink = MessageTemplate(try text(.emailLink))
        emailButton = try text(.emailButton)
        emailCode = MessageTemplate(try text(.emailCode))
        emailIgnore = try text(.emailIgnore)
    }

    /// The text of `: "text"`, or nil.
    private static func quoted(_ rest: Substring) -> String? {
        guard rest.hasPrefix(": \""), rest.hasSuffix("\""), rest.count > 4 else { return nil }
        let text = rest.dropFirst(3).dropLast()
        return text.contains { $0 == "\"" || $0 == "\\" } ? nil : String(text)
    }
}
