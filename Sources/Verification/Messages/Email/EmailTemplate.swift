// SPDX-License-Identifier: Apache-2.0

/// The e-mail that carries a link, a code or both.
///
/// Both parts say the same. The link stands in the open in each, so that a person sees where it leads and can copy it;
/// nothing is loaded from anywhere, and nothing tells that the e-mail was read.
package enum EmailTemplate {
    /// The subject and the two parts.
    ///
    /// A language without a text falls back along its tag, then to `defaultLanguage`, then to `en`. The link is taken as
    /// it is, an `https` address that the caller made; without a code the sentence about it is left out. Without a link
    /// the code has the sentence that an SMS has.
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

/// One e-mail before it becomes its parts.
struct EmailContent {
    let texts: LanguageTexts
    let appName: String
    let link: String?
    let code: VerificationCode?
    let linkMinutes: Int
    let codeMinutes: Int

    /// The title first: its letters, and not the name's, set the direction of the line.
    var subject: String { "\(texts.emailTitle) – \(appName)" }

    var linkSentence: String { texts.emailLink.text { $0 == .minutes ? String(linkMinutes) : "" } }

    /// The sentence with the code, its words by `spell` and the code by `emphasize`.
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

    /// Beside a link the code is the other way; alone it is named as in an SMS.
    private var codeTemplate: MessageTemplate { link == nil ? texts.full : texts.emailCode }

    var text: String {
        [appName, texts.emailTitle, link.map { "\(linkSentence)\n\($0)" }, codeSentence(), texts.emailIgnore]
            .compactMap(\.self).joined(separator: "\n\n") + "\n"
    }
}
