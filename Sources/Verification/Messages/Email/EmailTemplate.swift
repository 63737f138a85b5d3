// SPDX-License-Identifier: Apache-2.0

/// The e-mail that carries a link, a code or both.
///
/// Its text part and its HTML part have the same content. Each shows the full link, so that a person sees its target and
/// can copy it. The HTML loads nothing and tracks nothing.
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

extension EmailContent {
    /// The HTML part: with inline styles, since mail programs drop style sheets, and an explicit direction for every
    /// element.
    var html: String {
        let code = codeSentence(spell: escaped) { digits in
            "<strong dir=\"ltr\" style=\"font-size:20px;letter-spacing:2px\">\(escaped(digits))</strong>"
        }
        let codeParagraph = code.map { "\n<p style=\"margin:0 0 16px\">\($0)</p>" } ?? ""
        let linkParagraphs = link.map { paragraphs(of: $0) } ?? ""
        return """
            <!doctype html>
            <html lang="\(texts.language)" dir="\(direction)">
            <head>
            <meta charset="utf-8">
            <meta name="viewport" content="width=device-width,initial-scale=1">
            <title>\(escaped(subject))</title>
            </head>
            <body dir="\(direction)" style="\(Self.bodyStyle)">
            <div style="max-width:480px;margin:0 auto">
            <p style="margin:0 0 8px;color:#57606a"><bdi>\(escaped(appName))</bdi></p>
            <h1 style="margin:0 0 16px;font-size:22px;line-height:1.3">\(escaped(texts.emailTitle))</h1>\(linkParagraphs)\(codeParagraph)
            <p style="margin:0;color:#57606a;font-size:14px">\(escaped(texts.emailIgnore))</p>
            </div>
            </body>
            </html>

            """
    }

    private func paragraphs(of link: String) -> String {
        """

        <p style="margin:0 0 16px">\(escaped(linkSentence))</p>
        <p style="margin:0 0 16px"><a href="\(escaped(link))" style="\(Self.buttonStyle)">\(escaped(texts.emailButton))</a></p>
        <p dir="ltr" style="margin:0 0 16px;font-size:13px;word-break:break-all">\(escaped(link))</p>
        """
    }

    /// The direction of the title's script; the blocks U+0590 to U+08FF are right-to-left scripts.
    private var direction: String {
        texts.emailTitle.unicodeScalars.contains { (0x590...0x8ff).contains($0.value) } ? "rtl" : "ltr"
    }

    private static let bodyStyle = """
        margin:0;padding:24px;background:#ffffff;color:#1f2328;\
        font-family:system-ui,-apple-system,'Segoe UI',Roboto,Arial,sans-serif;font-size:16px;line-height:1.5
        """

    private static let buttonStyle = """
        display:inline-block;padding:12px 24px;border-radius:6px;background:#1f2328;color:#ffffff;\
        text-decoration:none;font-weight:600
        """

    /// Escapes text for HTML, between tags or in an attribute in double quotes.
    private func escaped(_ text: String) -> String {
        text.unicodeScalars.reduce(into: "") { html, scalar in
            switch scalar {
            case "&": html += "&amp;"
            case "<": html += "&lt;"
            case ">": html += "&gt;"
            case "\"": html += "&quot;"
            case "'": html += "&#39;"
            default: html.unicodeScalars.append(scalar)
            }
        }
    }
}
