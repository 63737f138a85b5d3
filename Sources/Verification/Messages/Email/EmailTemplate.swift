// SPDX-License-Identifier: Apache-2.0

/// The e-mail that carries a link, a code or both.
///
/// Both parts have the same content. Each shows the full link, so that a person sees its target and can copy it. The
/// HTML loads nothing and tracks nothing.
package enum EmailTemplate {
    /// Creates the subject and the two parts.
    ///
    /// A language without a text falls back along its tag, then to `defaultLanguage`, then to `en`. The link is not
    /// validated: it is an `https` URL that the caller created. Without a code its sentence is omitted. Without a link
    /// the code gets the sentence of an SMS.
    package static func message(
        language: String,
        defaultLanguage: String = "en",
        appName: String,
        link: String?,
        code: VerificationCode?,
        linkMinutes: Int,
        codeMinutes: Int
    ) -> (subject: String, text: String, html: String) {
        let content = EmailContent(
            texts: MessageCatalog.find([language, defaultLanguage]),
            appName: appName,
            link: link,
            code: code,
            linkMinutes: linkMinutes,
            codeMinutes: codeMinutes
        )
        return (content.subject, content.text, content.html)
    }
}

/// The values of one e-mail, shared by its parts.
struct EmailContent {
    let texts: LanguageTexts
    let appName: String
    let link: String?
    let code: VerificationCode?
    let linkMinutes: Int
    let codeMinutes: Int

    /// The title is first, so that its letters, not the name's, determine the direction of the line.
    var subject: String { "\(texts.emailTitle) – \(appName)" }

    var linkSentence: String { texts.emailLink.text { $0 == .minutes ? String(linkMinutes) : "" } }

    /// The sentence with the code, with words transformed by `spell` and the code by `emphasize`.
    func codeSentence(
        spell: (String) -> String = { $0 },
        emphasize: (String) -> String = { $0 }
    ) -> String? {
        code.map { code in
            codeTemplate.text(spell: spell) { place in
                switch place {
                case .code: emphasize(code.digits)
                case .minutes: String(codeMinutes)
                case .appName: spell(appName)
                }
            }
        }
    }

    /// Beside a link the code is an alternative; alone it is worded as in an SMS.
    private var codeTemplate: MessageTemplate { link == nil ? texts.full : texts.emailCode }

    var text: String {
        [appName, texts.emailTitle, link.map { "\(linkSentence)\n\($0)" }, codeSentence(), texts.emailIgnore]
            .compactMap(\.self).joined(separator: "\n\n") + "\n"
    }
}
