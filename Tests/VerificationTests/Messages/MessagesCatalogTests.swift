// SPDX-License-Identifier: Apache-2.0

import Formats
import Foundation
import TestTools
import Testing

@testable import Verification

@Suite struct MessagesCatalogTests {
    static let languages = MessageCatalog.languages
    static let rightToLeft = ["ar", "fa", "he", "ur"]

    private static let folder = Repository.file("Sources/Verification/Messages/Texts")

    private func texts(_ language: String) throws -> LanguageTexts {
        try #require(MessageCatalog[language])
    }

    private func overflows(appName: String, length: Int = 6) -> [MessageOverflow] {
        let regions = RegionPolicy(.allowByDefault(disallowed: []))
        var tenant = TenantPolicy(appName: appName, regions: regions, routes: Routes(fallback: []))
        tenant.code.length = length
        return tenant.messageOverflows
    }

    @Test func `every file of texts is without a flaw, and named as its language is looked up`() throws {
        #expect(MessageCatalog.flaws == [])
        let files = try FileManager.default.contentsOfDirectory(atPath: Self.folder.path)
        #expect(files.sorted() == Self.languages.map { "\($0).yaml" }.sorted())
        for language in Self.languages {
            #expect(LanguageTag(language)?.catalogKey == language)
        }
    }

    @Test(arguments: [
        ("emailLink: ", "emialLink: ", "xx.yaml: emialLink is not among sms, smsMinutes, emailTitle, "),
        ("emailLink: ", "emailTitle: ", "xx.yaml: emailTitle is there twice"),
        ("emailLink: ", "# emailLink: ", "xx.yaml: emailLink is missing"),
        ("\"Continue\"", "Continue", "xx.yaml: emailButton must have a text in double quotes"),
        ("\"Continue\"", "\"\"", "xx.yaml: emailButton must have a text in double quotes"),
        ("Continue", #"Con"tinue"#, "xx.yaml: emailButton must have a text in double quotes"),
        ("Continue", #"Con\tinue"#, "xx.yaml: emailButton must have a text in double quotes"),
        ("Continue", "{code}", "xx.yaml: emailButton must have no other braces"),
        ("{appName}", "{appname}", "xx.yaml: sms must have {code} and {appName} once and no other braces"),
        ("{code} is", "{code} {code} is", "xx.yaml: sms must have {code} and {appName} once"),
        ("expires in {minutes}", "expires in ten", "xx.yaml: smsMinutes must have {minutes} once"),
    ])
    func `a flawed file has no texts, and the flaw names file and key`(
        part: String,
        flawed: String,
        flaw: String
    ) throws {
        let english = try String(contentsOf: Self.folder.appending(path: "en.yaml"), encoding: .utf8)
        #expect(english.contains(part))
        let error = #expect(throws: LanguageTexts.Flaw.self) {
            try LanguageTexts(file: "xx.yaml", english.replacing(part, with: flawed, maxReplacements: 1))
        }
        #expect(error?.description.hasPrefix(flaw) == true, "\(error?.description ?? "no flaw")")
    }

    @Test(arguments: languages)
    func `a built-in text passes the rules for an operator's`(language: String) throws {
        let texts = try texts(language)
        for template in [texts.full, texts.withoutMinutes] {
            let text = template.text { "{\($0.rawValue)}" }
            let checked = try MessageTemplate(checking: text)
            #expect(checked == template)
            #expect(template.pieces.contains(.place(.appName)))
        }
        #expect(texts.full.pieces.contains(.place(.minutes)))
        #expect(!texts.withoutMinutes.pieces.contains(.place(.minutes)))
    }

    @Test(arguments: languages)
    func `a text tells code, name and minutes in one segment, and with a domain at least code and name`(
        language: String
    ) {
        let policy = MessagePolicy()
        for length in [4, 6] {
            for variant in MessageVariant.allCases {
                let rendering = Rendering(
                    language: language,
                    appName: "Acme",
                    domain: variant == .domain ? MessageVariant.sampleDomain : nil,
                    androidAppHash: variant == .androidApp ? MessageVariant.sampleHash : nil
                )
                let text = policy.text(
                    rendering,
                    region: .unknown,
                    code: VerificationCode(fixed: String("9876543210".prefix(length))),
                    validity: .seconds(600),
                    appName: "Acme",
                    language: "en"
                )
                #expect(text.language == language)
                #expect(TextEncoding(text.text).segments == 1)
                #expect(text.form == .full || (variant == .domain && text.form == .withoutMinutes), "\(text.text)")
            }
        }
    }

    @Test(arguments: [
        ("Acme", 10), ("A name as long as a request may have one", 10), ("Очень длинное имя приложения", 6),
    ])
    func `every text fits one segment with every name up to what its last line leaves`(appName: String, length: Int) {
        #expect(overflows(appName: appName, length: length).isEmpty)
    }

    @Test func `a name that leaves no room for a domain is told, with its size`() throws {
        let overflows = overflows(appName: "Очень длинное название приложения", length: 6)
        #expect(overflows.count == Self.languages.count)
        #expect(overflows.allSatisfy { $0.variant == .domain && !$0.isOwn && $0.region == nil })
        #expect(overflows.first?.size.length == 72)
        #expect(overflows.first?.size.capacity == 70)
    }

    @Test(arguments: rightToLeft)
    func `a text from right to left displays in order whatever letters the name has`(language: String) throws {
        let texts = try texts(language)
        for template in [texts.full, texts.withoutMinutes] {
            // The first strong letter sets the direction. It must not be the app name's, which may have either
            // direction.
            let firstWords = template.pieces.prefix { $0 != .place(.appName) }.compactMap(\.words)
            #expect(firstWords.contains { $0.hasLetter })
            // A number takes the direction of the letter before it, which must not be a letter of the name.
            let numbers = template.pieces.indices.filter {
                [.place(.code), .place(.minutes)].contains(template.pieces[$0])
            }
            let name = try #require(template.pieces.firstIndex(of: .place(.appName)))
            for number in numbers {
                let between = template.pieces[min(name, number)...max(name, number)].compactMap(\.words)
                #expect(between.contains { $0.hasLetter })
            }
            let marks: [Unicode.Scalar] = ["\u{200e}", "\u{200f}", "\u{2066}", "\u{2067}", "\u{2068}", "\u{2069}"]
            #expect(!template.pieces.compactMap(\.words).contains { $0.unicodeScalars.contains(where: marks.contains) })
        }
    }

    @Test func `a text that GSM-7 can write stays in GSM-7`() throws {
        let gsm7 = Self.languages.filter { language in
            let text = MessageCatalog[language]?.full.text { _ in "1" } ?? ""
            return TextEncoding(text).alphabet == .gsm7
        }
        let expected = """
            af bs ca da de en et eu fi fil fr hr id it lt ms nb nl ro sl sv sw tr uz
            """
        #expect(gsm7 == expected.split(separator: " ").map(String.init))
    }
}

extension MessageTemplate.Piece {
    fileprivate var words: String? {
        if case .words(let words) = self { words } else { nil }
    }
}

extension String {
    fileprivate var hasLetter: Bool { unicodeScalars.contains { $0.properties.isAlphabetic } }
}
