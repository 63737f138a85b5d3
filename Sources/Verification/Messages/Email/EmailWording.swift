// SPDX-License-Identifier: Apache-2.0

/// The built-in sentences of an e-mail in one language; they fit a sign-in and the proof of an address alike.
///
/// As in the texts of SMS, minutes have a unit of one form, and no sentence inflects the app's name: it stands alone.
struct EmailWording: Sendable {
    let language: String
    let title: String

    /// With `{minutes}`.
    let link: MessageTemplate
    let button: String

    /// With `{code}` and `{minutes}`.
    let code: MessageTemplate
    let ignore: String

    init(_ language: String, title: String, link: String, button: String, code: String, ignore: String) {
        self.language = language
        self.title = title
        self.link = MessageTemplate(link)
        self.button = button
        self.code = MessageTemplate(code)
        self.ignore = ignore
    }

    static let english = EmailWording(
        "en",
        title: "Confirm your email address",
        link: "Open this link to continue. It expires in {minutes} min.",
        button: "Continue",
        code: "Or enter this code: {code} (valid for {minutes} min).",
        ignore: "If this was not you, ignore this email."
    )

    static let all: [EmailWording] = [english] + westernEurope + easternEurope + otherLatin + otherScripts + indic

    private static let byLanguage: [String: EmailWording] = Dictionary(
        all.map { ($0.language, $0) }
    ) { first, _ in first }

    /// The sentences for the first of some tags that has any along its fallbacks, else the English ones.
    static func find(_ tags: [String]) -> EmailWording {
        for tag in tags {
            for key in LanguageTag(tag)?.catalogKeys ?? [] {
                if let wording = byLanguage[key] { return wording }
            }
        }
        return english
    }
}
