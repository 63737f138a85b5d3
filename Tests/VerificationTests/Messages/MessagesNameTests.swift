// SPDX-License-Identifier: Apache-2.0

import Formats
import Testing

@testable import Verification

@Suite struct MessagesNameTests {
    /// Names as typed, and their spelling in a GSM-7 message.
    static let typographic: [(String, String)] = [
        ("L’Oréal", "L'Oréal"), ("L‘Oréal", "L'Oréal"), ("Lʼoro", "L'oro"), ("“Acme”", "\"Acme\""),
        ("„Acme‟", "\"Acme\""),
        ("«Acme»", "\"Acme\""), ("‹Acme›", "'Acme'"), ("Acme‐Shop", "Acme-Shop"), ("Acme\u{2011}Shop", "Acme-Shop"),
        ("Acme – Shop", "Acme - Shop"), ("Acme — Shop", "Acme - Shop"), ("Acme−Shop", "Acme-Shop"),
        ("Acme…", "Acme..."), ("Acme\u{a0}Shop", "Acme Shop"), ("Acme\u{202f}Shop", "Acme Shop"),
        ("Acme\u{2009}Shop", "Acme Shop"), ("Acme\u{3000}Shop", "Acme Shop"), ("Rock`n´Roll", "Rock'n'Roll"),
        ("Cafe\u{301}", "Café"), ("Mu\u{308}ller", "Müller"), ("A\u{30a}ngstro\u{308}m", "Ångström"),
        ("\u{212b}ngstrom", "Ångstrom"), ("\u{212a}elvin", "Kelvin"), ("N\u{303}andu", "Ñandu"),
        ("Acme\u{ad}Shop", "AcmeShop"), ("\u{feff}Acme", "Acme"), ("Acme\u{200b}", "Acme"), ("Ac\u{2060}me", "Acme"),
        ("Acme\u{200e}", "Acme"), ("\u{202a}Acme\u{202c}", "Acme"), ("Ac\u{200d}me", "Acme"), ("Ac\u{200c}me", "Acme"),
        ("Ac\u{202e}me", "Acme"),
    ]

    @Test(arguments: typographic)
    func `typographic marks and letters in parts cost a name nothing`(given: String, shown: String) throws {
        let name = try #require(AppName(given))
        #expect(Array(name.text.unicodeScalars) == Array(shown.unicodeScalars))
        #expect(TextEncoding(name.text).alphabet == .gsm7)
        #expect(Array(name.given.unicodeScalars) == Array(given.unicodeScalars))
    }

    /// Names with letters that GSM-7 lacks, and their spelling in a message.
    static let others: [(String, String)] = [
        ("東京“店”", "東京“店”"), ("Яндекс – Еда", "Яндекс – Еда"), ("می\u{200c}خوانم", "می\u{200c}خوانم"),
        ("אקמי\u{200f}", "אקמי"), ("か\u{3099}", "が"), ("\u{1112}\u{1161}\u{11ab}", "한"),
        ("Franc\u{327}ais", "Français"),
        ("👩\u{200d}💻 Acme", "👩\u{200d}💻 Acme"), ("Acme™", "Acme™"), ("й".decomposed, "й"),
    ]

    @Test(arguments: others)
    func `a name of another alphabet keeps its marks and has its letters composed`(given: String, shown: String) throws
    {
        let name = try #require(AppName(given))
        #expect(Array(name.text.unicodeScalars) == Array(shown.unicodeScalars))
    }

    @Test(arguments: [
        "evil。com", "evil\u{200b}.com", "ev\u{ad}il.com", "＠home", "12\u{200b}34", "\u{feff}", "a\nb", "a\u{2028}b",
    ])
    func `a mark that is dropped hides nothing from the rules`(given: String) {
        #expect(AppName(given) == nil)
    }

    @Test func `the spelling of a name in messages does not change what a request is`() throws {
        let curly = try #require(RequestSample.read([("appName", "\"L’Oréal\"")]).request)
        let straight = try #require(RequestSample.read([("appName", "\"L'Oréal\"")]).request)
        #expect(curly.appName?.text == "L'Oréal")
        #expect(curly.appName?.text == straight.appName?.text)
        #expect(String(decoding: curly.payloadDigestInput, as: UTF8.self).contains("L’Oréal"))
        #expect(curly.payloadDigestInput != straight.payloadDigestInput)
    }

    @Test func `a curly apostrophe in a name leaves the text in GSM-7 and in its full form`() throws {
        let name = try #require(AppName("L’Oréal…")).text
        let rendering = Rendering(language: "de", appName: name, domain: "accounts.example.com", androidAppHash: nil)
        let text = MessagePolicy().text(
            rendering,
            region: .unknown,
            code: VerificationCode(fixed: "123456"),
            validity: .seconds(600),
            appName: "Acme",
            language: "en"
        )
        #expect(text.form == .full)
        #expect(TextEncoding(text.text).alphabet == .gsm7)
        #expect(text.text.contains("L'Oréal..."))
    }

    @Test(arguments: [
        "Booking.com", "1&1", "7-Eleven", "monday.com", "Cars24", "3M", "20 Minuten", "bet365", "Amazon.co.uk",
    ])
    func `an operator's name may have a brand's points and digits`(name: String) {
        #expect(AppName(own: name)?.text == name)
    }

    @Test(arguments: ["www.acme.com", "https://a", "a@b.com", "Forum2000", "1234", "a.com\n", ""])
    func `an operator's name is no link and no code`(name: String) {
        #expect(AppName(own: name) == nil)
    }

    @Test(arguments: ["Booking.com", "monday.com"])
    func `a request's name may not look like a site`(name: String) {
        #expect(AppName(name) == nil)
    }

    @Test(arguments: [
        ("Your Web24 code: ", "Web24"), ("A1B2 ", "A1B2"), ("call 1234", "1234"), ("Acme 2fa", nil), ("24/7: ", nil),
        ("H2O and CO2", nil), ("abcdefghij1", nil), ("Acme", nil), ("1&1 7-Eleven ", nil), ("код1 ", "код1"),
    ])
    func `a word is taken for a code by its letters and digits`(text: String, word: String?) {
        #expect(CodeLikeWord.first(in: text) == word)
    }
}

extension String {
    /// The text with each letter й decomposed.
    fileprivate var decomposed: String { replacing("й", with: "и\u{306}") }
}
