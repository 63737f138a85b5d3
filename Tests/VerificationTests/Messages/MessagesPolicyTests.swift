// SPDX-License-Identifier: Apache-2.0

import Formats
import Testing

@testable import Verification

@Suite struct MessagesPolicyTests {
    private let india = Region("IN") ?? .unknown
    private let china = Region("CN") ?? .unknown

    private func text(
        _ policy: MessagePolicy = MessagePolicy(),
        language: String = "en",
        appName: String = "Acme",
        domain: String? = nil,
        region: Region = .unknown,
        tenantName: String = "Acme",
        tenantLanguage: String = "en"
    ) -> MessageText {
        policy.text(
            Rendering(language: language, appName: appName, domain: domain, androidAppHash: nil),
            region: region,
            code: VerificationCode(fixed: "123456"),
            validity: .seconds(600),
            appName: tenantName,
            language: tenantLanguage
        )
    }

    @Test(arguments: [
        ("zh-TW", "zh-Hant"), ("zh-HK", "zh-Hant"), ("zh-MO", "zh-Hant"), ("zh", "zh-Hans"), ("zh-CN", "zh-Hans"),
        ("zh-SG", "zh-Hans"), ("zh-Hant-HK", "zh-Hant"), ("zh-Hans-TW", "zh-Hans"), ("yue-HK", "zh-Hant"),
        ("pt", "pt"), ("pt-AO", "pt"), ("pt-BR", "pt-BR"), ("no", "nb"), ("nn-NO", "nb"), ("iw-IL", "he"),
        ("in", "id"), ("tl-PH", "fil"), ("mo", "ro"), ("sr-Latn-RS", "sr-Latn"), ("sr-Cyrl", "sr"), ("sr-RS", "sr"),
        ("sr-ME", "sr-Latn"), ("sh", "sr-Latn"), ("de-CH-1996-u-co-phonebk", "de"), ("pa-Arab-PK", "ur"),
        ("es-419", "es"), ("EN-us", "en"),
        // For a language without a text, the tenant's default is used, and English if that has none either.
        ("tlh", "fr"), ("x-private", "fr"), ("not a tag", "fr"),
    ])
    func `a language is looked up along its tag, then along the tenant's default`(tag: String, language: String) {
        #expect(text(language: tag, tenantLanguage: "fr-CA").language == language)
    }

    @Test(arguments: [
        // Three-letter codes of ISO 639-2 (both sets) and ISO 639-3; members of a macrolanguage.
        ("deu", "de"), ("ger-AT", "de"), ("fra", "fr"), ("fre", "fr"), ("chi", "zh-Hans"), ("zho-TW", "zh-Hant"),
        ("arb", "ar"), ("ara-EG", "ar"), ("zsm", "ms"), ("may-MY", "ms"), ("cmn", "zh-Hans"), ("cmn-TW", "zh-Hant"),
        ("pes-IR", "fa"), ("prs", "fa"), ("nob", "nb"), ("nno", "nb"), ("nor", "nb"), ("ekk", "et"), ("lvs", "lv"),
        ("npi", "ne"), ("als", "sq"), ("azj", "az"), ("uzn", "uz"), ("swh", "sw"), ("tgl", "fil"), ("heb", "he"),
        ("hbs", "sr-Latn"), ("cnr", "sr-Latn"), ("srp-Latn-RS", "sr-Latn"), ("mol", "ro"), ("por-BR", "pt-BR"),
        ("por", "pt"), ("eng-GB", "en"), ("jpn", "ja"), ("kor-KR", "ko"),
        // Extended language subtags, and regions in a language's position.
        ("zh-nan-Hant-TW", "zh-Hant"), ("zh-cmn-Hans-CN", "zh-Hans"), ("zh-yue", "zh-Hant"), ("zh-min-nan", "zh-Hans"),
        ("ar-arb", "ar"), ("ar-arz-EG", "ar"), ("ms-zsm-MY", "ms"), ("en-USA", "en"),
        // Languages without a text, by the script of the tag or of its region.
        ("nan-Hant-TW", "zh-Hant"), ("nan-TW", "zh-Hant"), ("nan", "zh-Hans"), ("hak-Hant", "zh-Hant"),
        ("wuu", "zh-Hans"), ("yue", "zh-Hant"), ("yue-CN", "zh-Hans"), ("yue-Hans-HK", "zh-Hans"), ("lzh", "zh-Hans"),
        ("arz", "ar"), ("apc-LB", "ar"), ("gsw-CH", "de"), ("lb", "de"), ("ltz", "de"), ("nn", "nb"), ("fo", "da"),
        ("fy-NL", "nl"), ("jv", "id"), ("su", "id"), ("ceb", "fil"), ("tg", "ru"), ("tt-RU", "ru"), ("ky", "ru"),
        ("mn", "ru"), ("khk", "ru"), ("oc", "fr"), ("br", "fr"), ("mai", "hi"), ("sa", "hi"), ("ku", "tr"),
        ("quz", "es"), ("quy-PE", "es"), ("gn", "es"), ("plt", "fr"), ("min", "ms"), ("ckb", "ar"), ("tk", "ru"),
        // If the tag's script differs from that of the language's text, a text of another language may be nearer.
        ("bs-Cyrl", "sr"), ("hr-Cyrl", "sr"), ("uz-Cyrl", "ru"), ("az-Cyrl-AZ", "ru"), ("az-RU", "ru"),
        ("zh-US", "zh-Hant"),
        ("zh-Latn", "zh-Hans"), ("sr-Cyrl-ME", "sr"), ("uz-Latn", "uz"), ("kk-Latn", "kk"), ("hi-Latn", "hi"),
        ("pa-PK", "ur"), ("ms-Arab", "ms"),
    ])
    func `a language without a text of its name finds the nearest by CLDR`(tag: String, language: String) {
        // No tag above matches Icelandic, so an Icelandic text would reveal a fallback to the tenant's language.
        #expect(text(language: tag, tenantLanguage: "is").language == language)
    }

    @Test func `an operator's text of a language goes before the one that is nearest`() throws {
        let own = try MessageTemplate(checking: "gsw {code} {appName}")
        var policy = MessagePolicy(templates: ["gsw": own])
        #expect(text(policy, language: "gsw-CH").language == "gsw")
        policy = MessagePolicy(templates: [try #require(LanguageTag("nan-Hant")).catalogKey: own])
        #expect(text(policy, language: "zh-nan-Hant-TW").language == "nan-Hant")
        #expect(LanguageTag("deu")?.catalogKey == "de" && LanguageTag("zh-TW")?.catalogKey == "zh-Hant")
    }

    @Test func `English is the last resort`() {
        #expect(text(language: "tlh", tenantLanguage: "tlh").language == "en")
    }

    @Test func `the region's own text goes before the tenant's own, and that before the built-in one`() {
        let policy = MessagePolicy(
            templates: ["en": MessageTemplate("T {code}"), "de": MessageTemplate("D {code}")],
            regions: [
                india: RegionMessages(templates: ["en": MessageTemplate("R {code} {minutes} {appName}")])
            ]
        )
        #expect(text(policy).text == "T 123456")
        #expect(text(policy, region: india).text == "R 123456 10 Acme")
        #expect(text(policy, language: "de-AT", region: india).text == "D 123456")
        #expect(text(policy, language: "fr").form == .full)
        // A language with its own text is kept, even if the region has a registered text.
        #expect(text(policy, language: "hi", region: india).language == "hi")
    }

    @Test func `a registered text is sent to everybody, with its ids and without a last line`() {
        let ids = TemplateRegistration(entityID: "1101", templateID: "1107")
        let messages = RegionMessages(
            templates: ["hi": MessageTemplate("{code} कोड")],
            registration: ids,
            hasAutofill: false
        )
        let policy = MessagePolicy(regions: [india: messages])
        let sent = text(policy, language: "en", domain: "example.com", region: india)
        #expect(sent.text == "123456 कोड")
        #expect(sent.registration == ids)
        #expect(text(policy).registration == nil)
        #expect(policy.languages(in: india) == ["hi"])
    }

    @Test func `a signature stands in front of every text`() {
        let policy = MessagePolicy(regions: [china: RegionMessages(signature: "【Acme】")])
        let sent = text(policy, language: "zh", region: china)
        #expect(sent.text == "【Acme】您的 Acme 验证码是 123456，10 分钟内有效。")
        #expect(TextEncoding(text(policy, region: china).text).alphabet == .ucs2)
        // The signature counts: with its six characters the text with a domain is too long.
        #expect(text(policy, language: "uk", domain: "accounts.example.com", region: china).form == .withoutMinutes)
        #expect(text(policy, language: "uk", domain: "accounts.example.com").form == .full)
    }

    @Test func `what does not fit one segment loses its minutes, then its words, then the request's name`() {
        let domain = "accounts.example.com"
        let forms = [
            ("Акме", MessageForm.full), ("Акмё7", .withoutMinutes),
            (String(repeating: "я", count: 20), .withoutMinutes),
            (String(repeating: "я", count: 31), .nameAndCode),
        ]
        for (name, form) in forms {
            let sent = text(language: "ru", appName: name, domain: domain)
            #expect(sent.form == form, "\(sent.text)")
            #expect(sent.text.contains(name))
            #expect(TextEncoding(sent.text).segments == 1)
        }
        let long = text(language: "ru", appName: String(repeating: "я", count: 32), domain: domain)
        #expect(long.text == "Ваш код Acme: 123456. Действует 10 мин.\n\n@accounts.example.com #123456")
    }

    @Test func `a domain that fits no segment is sent in two, with the shortest text before it`() {
        let label = String(repeating: "a", count: 60)
        let domain = "\(label).\(label).\(label).example.com"
        let sent = text(appName: "Request", domain: domain)
        #expect(sent.text == "Acme: 123456\n\n@\(domain) #123456")
        #expect(TextEncoding(sent.text).segments == 2)
    }

    @Test func `an own text is never cut, and may lose only the request's name`() {
        let words = String(repeating: "я", count: 40)
        let policy = MessagePolicy(templates: ["ru": MessageTemplate("\(words) {appName} {code}")])
        let name = String(repeating: "я", count: 40)
        #expect(text(policy, language: "ru", appName: name).text == "\(words) Acme 123456")
    }

    @Test func `a policy's own text that does not fit is told with its region`() {
        var tenant = TenantPolicy(
            appName: "Acme",
            regions: RegionPolicy(.allowByDefault(disallowed: [])),
            routes: Routes(fallback: [])
        )
        let words = String(repeating: "я", count: 50)
        tenant.messages.regions[india] = RegionMessages(
            templates: ["ru": MessageTemplate("{code} \(words)")]
        )
        let expected = MessageOverflow(
            region: india,
            language: "ru",
            variant: .domain,
            isOwn: true,
            size: TextSize("123456 \(words)\n\n@accounts.example.com #123456")
        )
        #expect(tenant.messageOverflows == [expected])
    }
}
