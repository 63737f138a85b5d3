// SPDX-License-Identifier: Apache-2.0

import Formats
import Testing

@testable import Verification

@Suite struct MessagesTemplateTests {
    private func flaw(_ text: String) -> String? {
        do throws(MessageTemplate.Flaw) {
            _ = try MessageTemplate(checking: text)
            return nil
        } catch {
            return error.description
        }
    }

    @Test(arguments: [
        "{code}", "{code} is your {appName} code.", "{code} ist dein {appName}-Code. Gültig {minutes} Min.",
        "{code} is your Web24 code", "2FA: {code}", "1&1 7-Eleven {code}", "{code}: {appName} A1B2",
        "認証コードは {code} です。有効期間は{minutes}分。", "<#> {appName}: {code}", "[{code}] for 24/7", "a.b {code}",
    ])
    func `a text with one code is a template`(text: String) {
        #expect(flaw(text) == nil)
    }

    @Test(arguments: [
        ("", "1 to 160 characters"), (String(repeating: "a", count: 155) + "{code}", "1 to 160 characters"),
        ("hello", "{code} exactly once"), ("{code} {code}", "{code} exactly once"), ("{Code}", "{code} exactly once"),
        ("{code} {appName} {appName}", "at most once each"), ("{code} {minutes} {minutes}", "at most once each"),
        ("{code} {name}", "no braces"), ("{code} {", "no braces"), ("{code} {{appName}}", "no braces"),
        ("{code}\n@evil", "control character"), ("{code}\u{202e}", "control character"),
        ("{code} @x", "an @"), ("{code} http://a", "a link"), ("{code} {appName}.com", "a link"),
        ("www.{appName} {code}", "a link"), ("{code} a.{appName}x", "a link"),
        ("{code} or 1234", "four digits or more, which could pass for the code: 1234"),
        ("Call 110, 112: {code}", "the code: 110, 112"),
        ("Your Web24 code: {code}", "has Web24 before {code}"), ("Web3{appName} {code}", "has Web3 before {code}"),
        ("A1B2 {code}", "has A1B2 before"),
        ("A{code}", "apart"), ("{code}입니다", "apart"), ("{appName}{code}", "apart"), ("{code}{minutes}", "apart"),
        ("1{code}", "apart"),
    ])
    func `what could mislead a person or a phone is refused`(text: String, expected: String) {
        #expect(flaw(text)?.contains(expected) == true, "\(flaw(text) ?? "accepted")")
    }

    @Test func `values are put in once and never read as places`() {
        let text = MessageTemplate("{appName}: {code}").text { $0 == .appName ? "{code}{appName}" : "1" }
        #expect(text == "{code}{appName}: 1")
    }

    @Test(arguments: ["", "abc", "€{}", "жa", "🔑", "a\u{301}", "ç"])
    func `sizes add up to what the encoding counts`(text: String) {
        for other in ["", "x€", "ж"] {
            let size = TextSize(text) + TextSize(other)
            let encoding = TextEncoding(text + other)
            #expect(size.length == encoding.units)
            #expect(size.alphabet == encoding.alphabet)
            #expect(size.fitsOneSegment == (encoding.segments == 1))
        }
    }

    @Test func `one segment holds 160 septets or 70 units`() {
        for count in 155...165 {
            let text = String(repeating: "a", count: count)
            #expect(TextSize(text).fitsOneSegment == (TextEncoding(text).segments == 1))
        }
        for count in 65...75 {
            let text = String(repeating: "ж", count: count)
            #expect(TextSize(text).fitsOneSegment == (TextEncoding(text).segments == 1))
        }
    }
}
