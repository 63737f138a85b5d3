// SPDX-License-Identifier: Apache-2.0

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
