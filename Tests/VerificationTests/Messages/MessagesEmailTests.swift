// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import Verification

@Suite struct MessagesEmailTests {
    private static let link = "https://example.com/confirm?a=1&b='2'"
    private static let escapedLink = "https://example.com/confirm?a=1&amp;b=&#39;2&#39;"

    private func message(
        _ language: String,
        appName: String = "Acme",
        code: String? = "012345"
    ) -> (subject: String, text: String, html: String) {
        EmailTemplate.message(
            language: language,
            appName: appName,
            link: Self.link,
            code: code.map { VerificationCode(fixed: $0) },
            linkMinutes: 20,
            codeMinutes: 10
        )
    }

    @Test func `an e-mail names the app, the link, the code and how long both are valid`() {
        let english = message("en-GB")
        #expect(english.subject == "Confirm your email address – Acme")
        #expect(
            english.text == """
                Acme

                Confirm your email address

                Open this link to continue. It expires in 20 min.
                \(Self.link)

                Or enter this code: 012345 (valid for 10 min).

                If this was not you, ignore this email.

                """
        )
    }

    @Test(arguments: MessageCatalog.languages)
    func `both parts say the same in every language`(language: String) throws {
        let message = message(language)
        let texts = MessageCatalog.find([language])
        #expect(texts.language == language)
        let isRightToLeft = MessagesCatalogTests.rightToLeft.contains(language)
        #expect(message.html.contains("<html lang=\"\(language)\" dir=\"\(isRightToLeft ? "rtl" : "ltr")\">"))
        for sentence in [texts.emailTitle, texts.emailIgnore] {
            #expect(message.text.contains(sentence))
            #expect(message.html.contains(sentence))
        }
        #expect(message.text.occurrences(of: Self.link) == 1)
        #expect(message.html.occurrences(of: "\"\(Self.escapedLink)\"") == 1)
        #expect(message.html.occurrences(of: Self.escapedLink) == 2)
        for part in [message.text, message.html] {
            #expect(part.occurrences(of: "012345") == 1)
            #expect(part.contains("20"))
            #expect(part.contains("10"))
            #expect(!part.contains("{"))
            #expect(!part.contains("}"))
        }
        #expect(!message.html.contains("<img"))
        #expect(!message.subject.contains { $0.isNewline })
    }

    @Test func `without a code nothing is said about one`() {
        let message = message("de", code: nil)
        #expect(!message.text.contains("Code"))
        #expect(!message.html.contains("Code"))
        #expect(message.text.contains(Self.link))
    }

    @Test(arguments: MessageCatalog.languages)
    func `a code without a link stands alone in every language`(language: String) throws {
        let message = EmailTemplate.message(
            language: language,
            appName: "<Acme>",
            link: nil,
            code: VerificationCode(fixed: "012345"),
            linkMinutes: 37,
            codeMinutes: 10
        )
        let texts = MessageCatalog.find([language])
        for part in [message.text, message.html] {
            #expect(part.occurrences(of: "012345") == 1)
            #expect(part.contains("10") && !part.contains("37"))
            #expect(!part.contains("http") && !part.contains("<a ") && !part.contains(texts.emailButton + "<"))
            #expect(part.contains(texts.emailTitle) && part.contains(texts.emailIgnore))
        }
        #expect(!message.html.contains("<Acme>"))
    }

    @Test func `a code without a link is named as in an SMS`() {
        let message = EmailTemplate.message(
            language: "en",
            appName: "Acme",
            link: nil,
            code: VerificationCode(fixed: "012345"),
            linkMinutes: 20,
            codeMinutes: 10
        )
        #expect(
            message.text == """
                Acme

                Confirm your email address

                012345 is your Acme verification code. It expires in 10 min.

                If this was not you, ignore this email.

                """
        )
    }

    @Test func `everything is escaped in HTML`() {
        let message = message("en", appName: #"<b>"A" & 'B'"#)
        #expect(message.html.contains("<bdi>&lt;b&gt;&quot;A&quot; &amp; &#39;B&#39;</bdi>"))
        #expect(!message.html.contains("<b>"))
        #expect(message.text.hasPrefix(#"<b>"A" & 'B'"#))
    }

    @Test(arguments: [("zh-TW", "zh-Hant"), ("no", "nb"), ("tlh", "de"), ("", "de")])
    func `a language falls back along its tag, then to the default`(language: String, found: String) {
        let message = EmailTemplate.message(
            language: language,
            defaultLanguage: "de-AT",
            appName: "Acme",
            link: Self.link,
            code: nil,
            linkMinutes: 1,
            codeMinutes: 1
        )
        #expect(message.html.contains("<html lang=\"\(found)\""))
    }
}

extension String {
    fileprivate func occurrences(of text: String) -> Int { ranges(of: text).count }
}
