// SPDX-License-Identifier: Apache-2.0

import Formats
import TestSupport
import Testing
import Verification

@Suite struct MessagesRenderingTests {
    private let code = VerificationCode(fixed: "012345")

    private func text(
        domain: String? = nil,
        hash: String? = nil,
        validity: Duration = .seconds(600),
        region: Region = .unknown
    ) -> String {
        let rendering = Rendering(language: "en", appName: "Acme", domain: domain, androidAppHash: hash)
        return MessagePolicy().text(
            rendering,
            region: region,
            code: code,
            validity: validity,
            appName: "Acme",
            language: "en"
        ).text
    }

    /// The rendering that results from a parsed request.
    private func rendering(of more: String) throws -> Rendering {
        var tables = DecisionTables()
        return try #require(tables.intake(.request(id: "r1", at: tables.now, more: more)).sends.first).rendering
    }

    @Test func `a message names the app, the code and its minutes`() {
        #expect(text() == "012345 is your Acme verification code. It expires in 10 min.")
    }

    @Test(arguments: [
        (Duration.zero, 1), (.microseconds(1), 1), (.seconds(60), 1), (.seconds(60) + .microseconds(1), 2),
        (.seconds(600), 10), (.seconds(-5), 1),
    ])
    func `minutes are rounded up and never none`(validity: Duration, minutes: Int) {
        #expect(validity.shownMinutes == minutes)
        #expect(text(validity: validity).hasSuffix("in \(minutes) min."))
    }

    @Test func `the last line binds the code to its domain`() {
        #expect(text(domain: "example.com").hasSuffix(" min.\n\n@example.com #012345"))
    }

    @Test func `the last line of a message for an Android app is its hash`() {
        #expect(text(hash: "FA+9qCX9VSu").hasSuffix(" min.\n\nFA+9qCX9VSu"))
    }

    @Test func `a request's platform decides which of both is the last line`() throws {
        let autofill = #","autofill":{"domain":"example.com","androidAppHash":"FA+9qCX9VSu"}"#
        let android = try rendering(of: autofill + #","client":{"platform":"android"}"#)
        #expect(android.androidAppHash == "FA+9qCX9VSu")
        #expect(android.domain == nil)
        for platform in [#","client":{"platform":"ios"}"#, #","client":{"platform":"web"}"#, ""] {
            let other = try rendering(of: autofill + platform)
            #expect(other.androidAppHash == nil)
            #expect(other.domain == "example.com")
        }
        let alone = try rendering(of: #","autofill":{"androidAppHash":"FA+9qCX9VSu"}"#)
        #expect(alone.androidAppHash == "FA+9qCX9VSu", "who gives only this one wants it")
        let ios = #","autofill":{"androidAppHash":"FA+9qCX9VSu"},"client":{"platform":"ios"}"#
        #expect(try rendering(of: ios).androidAppHash == nil)
    }

    @Test func `a request's own language and name go before the tenant's`() throws {
        let own = try rendering(of: #","languageCode":"de-AT","appName":"Shop""#)
        #expect(own.language == "de-AT")
        #expect(own.appName == "Shop")
        let plain = try rendering(of: "")
        #expect(plain.language == "en")
        #expect(plain.appName == "Acme")
    }

    @Test(arguments: [
        Rendering(language: "en", appName: "Acme", domain: nil, androidAppHash: nil),
        Rendering(
            language: "en",
            appName: "Acme",
            domain: nil,
            androidAppHash: nil,
            sealedActionCode: [0, 1, 254, 255],
            pushApp: PushApp(bundleID: "com.example.app", environment: .unknown)
        ),
        Rendering(language: "zh-Hant-TW", appName: #"„A\"b"🔑"#, domain: "example.com", androidAppHash: "FA+9qCX9VSu"),
    ])
    func `a rendering is read back from what its row keeps`(rendering: Rendering) {
        #expect(Rendering(json: rendering.json) == rendering)
    }

    @Test func `the row of a text message has only what a text is made from`() throws {
        let json = try rendering(of: #","autofill":{"domain":"example.com"}"#).json
        #expect(json == #"["en","Acme","example.com"]"#)
    }

    @Test(arguments: [#""?""#, #""","com.example.app","moon""#, #""","com.example.app""#, #""","","production""#])
    func `what cannot be read of a row is left out`(more: String) throws {
        let rendering = try #require(Rendering(json: #"["en","Acme","","",\#(more)]"#))
        #expect(rendering == Rendering(language: "en", appName: "Acme", domain: nil, androidAppHash: nil))
    }

    @Test(arguments: ["", "{", "[]", "{}", #"["en"]"#, #"[1,"Acme"]"#, #"["en","Acme",null]"#])
    func `a row's text that no rendering wrote is nil`(json: String) {
        #expect(Rendering(json: json) == nil)
    }

    @Test func `a text describes itself without the code`() {
        let rendering = Rendering(language: "de", appName: "Acme", domain: nil, androidAppHash: nil)
        let text = MessagePolicy().text(
            rendering,
            region: .unknown,
            code: code,
            validity: .seconds(60),
            appName: "Acme",
            language: "en"
        )
        #expect(text.text.contains("012345"))
        var dumped = "\(text)"
        dump(text, to: &dumped)
        #expect(!dumped.contains("012345"))
    }
}
