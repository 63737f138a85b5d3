// SPDX-License-Identifier: Apache-2.0

import Formats
import Testing

@testable import Verification

/// Tests client addresses, host names and language tags.
@Suite struct RequestWordsTests {
    @Test(
        arguments: [
            ("0.0.0.0", "0.0.0.0"), ("255.255.255.255", "255.255.255.255"), ("203.0.113.7", "203.0.113.7"),
            ("::", "::/64"), ("::1", "::/64"), ("1::", "1::/64"), ("0:0:0:0:0:0:0:0", "::/64"), ("::1.2.3.4", "::/64"),
            ("2001:DB8:0:0:0:0:0:1", "2001:db8::/64"), ("2001:0db8::0001", "2001:db8::/64"),
            ("2001:db8:0:1:2:3:4:5", "2001:db8:0:1::/64"), ("2001:db8:0:1::", "2001:db8:0:1::/64"),
            ("1:0:0:2:0:0:0:3", "1:0:0:2::/64"), ("1:0:3:4:5:6:7:8", "1:0:3:4::/64"),
            ("1:2:3:4:5:6:7::", "1:2:3:4::/64"), ("::2:3:4:5:6:7:8", "0:2:3:4::/64"),
            ("1:2:3:4:5:6:1.2.3.4", "1:2:3:4::/64"), ("fe80::0:0:1", "fe80::/64"),
            ("::ffff:203.0.113.7", "203.0.113.7"), ("::FFFF:cb00:7107", "203.0.113.7"),
            ("64:ff9b::203.0.113.7", "203.0.113.7"), ("64:ff9b:1::1", "64:ff9b:1::/64"),
        ]
    )
    func `limits count the network of an IPv6 address, which one subscriber has all of`(text: String, network: String) {
        #expect(IPAddress(text)?.network == network)
    }

    @Test(
        arguments: [
            "", "1", "1.2.3", "1.2.3.4.5", "1.2.3.256", "01.2.3.4", "1.2.3.04", "1.2.3.", ".1.2.3", "1..2.3",
            "+1.2.3.4", "1.2.3.4 ",
            "0x1.2.3.4", "1.2.3.4:80", "1.2.3.0/24", ":", ":::", "::1::", "1::2::3", "1:2:3:4:5:6:7",
            "1:2:3:4:5:6:7:8:9",
            "1:2:3:4:5:6:7:8::", "::1:2:3:4:5:6:7:8", ":1:2:3:4:5:6:7", "1:2:3:4:5:6:7:", "12345::", "g::", "+1::",
            "-1::", "fe80::1%eth0",
            "[::1]", "::1.2.3", "::1.2.3.4:5", "1.2.3.4::", "::1.2.3.256", "1:2:3:4:5:6:7:1.2.3.4", "1.2.3.4\u{0}",
            "::1\u{0}x", "１.2.3.4",
        ]
    )
    func `what is no IP address is nil`(text: String) {
        #expect(IPAddress(text) == nil)
    }

    @Test(
        arguments: [
            ("EN", "en"), ("en-us", "en-US"), ("ZH-hANT-tw", "zh-Hant-TW"), ("es-419", "es-419"),
            ("sl-rozaj-biske", "sl-rozaj-biske"),
            ("de-ch-1996", "de-CH-1996"), ("zh-yue-hk", "zh-yue-HK"), ("de-de-u-co-phonebk", "de-DE-u-co-phonebk"),
            ("en-a-bbb-x-a-ccc", "en-a-bbb-x-a-ccc"), ("x-whatever", "x-whatever"), ("hak", "hak"), ("abcde", "abcde"),
            ("abcd", "abcd"),
            ("de-x-1", "de-x-1"),
        ]
    )
    func `a language tag is kept in its usual case`(text: String, canonical: String) {
        #expect(LanguageTag(text)?.text == canonical)
    }

    @Test(
        arguments: [
            "", "-", "a", "e", "en-", "-en", "en--US", "en_US", "e1", "12", "abcdefghi", "en-a", "en-x", "x", "en-a-b",
            "en-u-co-u-nu",
            "en-US-US", "en-12", "en-abc-def-ghi-jkl", "de-419-DE", "deutsch-abc", "i-klingon", "en US", "ёn", "en-1ab",
            "en-US-é",
            "en-aa-bb-cc", "x" + String(repeating: "-aaaaaaaa", count: 8),
        ]
    )
    func `what is no well-formed language tag is nil`(text: String) {
        #expect(LanguageTag(text) == nil)
    }

    @Test func `a tag falls back along itself`() throws {
        #expect(try #require(LanguageTag("zh-Hant-TW")).fallbacks == ["zh-Hant-TW", "zh-Hant", "zh"])
        #expect(
            try #require(LanguageTag("de-CH-u-co-phonebk")).fallbacks == [
                "de-CH-u-co-phonebk", "de-CH-u-co", "de-CH", "de",
            ]
        )
        #expect(try #require(LanguageTag("x-a")).fallbacks == ["x-a"])
    }

    @Test func `a host name has at most 253 characters in labels of at most 63`() {
        let label = String(repeating: "a", count: 63)
        let long = "\(label).\(label).\(label)."
        #expect(HostName(long + String(repeating: "b", count: 61)) != nil)
        #expect(HostName(long + String(repeating: "b", count: 62)) == nil)
        #expect(HostName("a\(label).de") == nil)
        #expect(HostName("A.De")?.text == "a.de")
        for text in ["", ".", "a", "a.", ".de", "a b.de", "a.de:80", "a_b.de", "1.2", "a.12", "ä.de", "a.de\u{0}"] {
            #expect(HostName(text) == nil)
        }
        #expect(HostName("1.x2") != nil)
    }
}
