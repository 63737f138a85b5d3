// SPDX-License-Identifier: Apache-2.0

import Formats
import Foundation
import TestSupport
import TestTools
import Testing

@testable import Verification

/// Reads the link of an e-mail with an independent URL parser.
@Suite struct MessagesActionLinkTests {
    private let token = DerivedSecret(
        .link,
        verification: VerificationID(UUIDValue(1)),
        generation: 1,
        key: KeyRing.test(1).active
    )

    private func made(
        _ actionCode: RequestActionCode,
        tenant: String = "default",
        language: String = "de",
        path: String = EmailLinkPolicy.defaultPath
    ) -> ActionLink? {
        ActionLink(
            token: token,
            verification: VerificationID(UUIDValue(1)),
            tenant: tenant,
            purpose: .signIn,
            language: language,
            actionCode: actionCode,
            path: path
        )
    }

    @Test func `a policy may put links at another path`() throws {
        let code = try actionCode(#"{"url":"https://example.com/finish"}"#)
        let link = try #require(made(code, path: "/auth/action"))
        #expect(link.url.hasPrefix("https://example.com/auth/action?mode=signIn&"))
    }

    private func actionCode(_ json: String) throws -> RequestActionCode { try #require(RequestActionCode(json: json)) }

    private func parameters(_ link: ActionLink) throws -> [String: String] {
        let items = try #require(URLComponents(string: link.url)?.queryItems)
        return try Dictionary(items.map { ($0.name, try #require($0.value)) }) { first, _ in
            Issue.record("a parameter comes twice")
            return first
        }
    }

    @Test func `a link has everything the verifier needs and the request's own action code`() throws {
        let full = try actionCode(
            """
            {"url":"https://example.com/finish?cart=1&x=a+b#end","linkDomain":"Links.example.com",\
            "iosBundleId":"com.example.app","androidPackageName":"com.example.app_1","androidMinimumVersion":"12 & up",\
            "androidInstallApp":true,"handleCodeInApp":true}
            """
        )
        let link = try #require(made(full))
        #expect(link.url.hasPrefix("https://links.example.com/__/auth/links?"))
        #expect(
            try parameters(link) == [
                "mode": "signIn", "oobCode": token.text, "verificationId": "00000000-0000-0000-0000-000000000001",
                "tenantId": "default", "purpose": "sign_in", "lang": "de",
                "continueUrl": "https://example.com/finish?cart=1&x=a+b#end", "iosBundleId": "com.example.app",
                "androidPackageName": "com.example.app_1", "androidMinimumVersion": "12 & up",
                "androidInstallApp": "true",
            ]
        )
    }

    @Test(arguments: [
        ("https://Example.com/a", "https://example.com/"), ("http://localhost:3000/a", "http://localhost:3000/"),
        ("HTTPS://example.com:8443?x", "https://example.com:8443/"),
    ])
    func `without a domain of its own a link is on the site that it leads on to`(url: String, origin: String) throws {
        let link = try #require(made(try actionCode(#"{"url":"\#(url)"}"#)))
        #expect(link.url.hasPrefix(origin + "__/auth/links?mode=signIn&"))
        #expect(try parameters(link)["continueUrl"] == url)
    }

    @Test func `no link is made without an address to go on to, and a link hides itself`() throws {
        #expect(made(try actionCode("{}")) == nil)
        let link = try #require(made(try actionCode(#"{"url":"https://example.com/?email=ada@example.com"}"#)))
        var dumped = ""
        dump(link, to: &dumped)
        for text in ["\(link)", String(reflecting: link), dumped] {
            #expect(!text.contains(token.text) && !text.contains("ada"))
        }
    }

    @Test func `whatever an address holds comes back from its link`() throws {
        var random = TestSeed("action links")
        let characters =
            Array("abz09-._~:/?#[]@!$&()*+,;=%").map(String.init) + ["%20", "&amp;", "?oobCode=", "#mode="]
        for _ in 0..<2_000 {
            var url = "https://example.com/"
            for _ in 0..<random.below(60) { url += random.pick(characters) }
            // Requests may contain square brackets and similar characters that a URL does not allow.
            guard LinkTarget(url) != nil else { continue }
            let link = try #require(made(try actionCode(#"{"url":"\#(url)"}"#), tenant: "a.b-c_\(random.below(9))"))
            let parameters = try parameters(link)
            #expect(parameters["continueUrl"] == url)
            #expect(parameters["oobCode"] == token.text)
            #expect(parameters.count == 7)
            #expect(link.url.utf8.allSatisfy { (0x21...0x7e).contains($0) && !Array("\"<>'".utf8).contains($0) })
        }
    }

    @Test(arguments: [
        "{}", #"{"url":"https://example.com/ü"}"#.replacing("ü", with: "%C3%BC"),
        #"{"androidInstallApp":false,"handleCodeInApp":true}"#,
    ])
    func `an action code is read back from what is sealed of it`(json: String) throws {
        let actionCode = try actionCode(json)
        #expect(RequestActionCode(json: actionCode.json) == actionCode)
    }

    @Test(arguments: ["", "[]", #"{"url":"x"}"#, #"{"handleCodeInApp":1}"#])
    func `what is no action code is nil`(json: String) {
        #expect(RequestActionCode(json: json) == nil)
    }
}
