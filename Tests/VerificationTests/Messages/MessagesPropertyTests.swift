// SPDX-License-Identifier: Apache-2.0

import Formats
import TestSupport
import TestTools
import Testing

@testable import Verification

/// Checks that a text follows its template, whatever the request contains, and binds the code to nothing else.
@Suite struct MessagesPropertyTests {
    private static let pieces = [
        "Acme", " ", "é", "ж", "漢", "🔑", "€", "א", "ع", "{code}", "{appName}", "{", "}", "<b>", "&", "\"", "#", "@",
        "1", "23", "456789", "١٢", ".", "com", "://", "www.", "\n", "\r", "\u{2028}", "\u{202e}", "\u{200d}",
        "\u{200b}",
        "localhost", "#123456", "\\", "'", "-",
    ]
    private static let tags = MessageCatalog.languages + ["zh-TW", "no", "de-AT", "tlh", "x-a", "", "sr-ME"]
    private static let domains = ["a.io", "example.com", "accounts.example.com", "a-very-long-host.of.an.example.com"]

    private static func name(_ seed: inout TestSeed) -> String? {
        let text = (0...seed.below(8)).map { _ in seed.pick(pieces) }.joined()
        return AppName(text)?.text
    }

    @Test func `every text is its template's, with one code, and at most one line that binds it, the last one`() {
        var seed = TestSeed("message texts")
        var names = 0
        for _ in 0..<1000 {
            guard let appName = Self.name(&seed), let tenantName = Self.name(&seed) else { continue }
            names += 1
            let digits = String((0..<4 + seed.below(7)).map { _ in Character(String(seed.below(10))) })
            let variant = seed.pick(MessageVariant.allCases)
            let rendering = Rendering(
                language: seed.pick(Self.tags),
                appName: appName,
                domain: variant == .domain ? seed.pick(Self.domains) : nil,
                androidAppHash: variant == .androidApp ? MessageVariant.sampleHash : nil
            )
            check(rendering, digits: digits, tenantName: tenantName, minutes: 1 + seed.below(10))
        }
        #expect(names > 30)
    }

    private func check(_ rendering: Rendering, digits: String, tenantName: String, minutes: Int) {
        let policy = MessagePolicy()
        let sent = policy.text(
            rendering,
            region: .unknown,
            code: VerificationCode(fixed: digits),
            validity: .seconds(60 * minutes),
            appName: tenantName,
            language: "pt-BR"
        )
        let ending = rendering.ending(digits)
        #expect(sent.text.utf8.reversed().starts(with: ending.utf8.reversed()))
        let body = String(sent.text.unicodeScalars.dropLast(ending.unicodeScalars.count))

        let forms = policy.forms(for: [rendering.language, "pt-BR"], in: .unknown)
        let possible = forms.forms.flatMap { form in
            [rendering.appName, tenantName].map { name in
                form.template.text { $0 == .code ? digits : $0 == .appName ? name : String(minutes) }
            }
        }
        #expect(possible.contains { $0.utf8.elementsEqual(body.utf8) }, "\(body)")
        #expect(body.digitRuns.filter { $0.count >= 4 } == [digits])
        #expect(!body.contains("@"))
        #expect(!body.contains { $0.isNewline })
        let bound = sent.text.split(whereSeparator: \.isNewline).filter { $0.hasPrefix("@") }
        #expect(bound == (rendering.domain.map { ["@\($0) #\(digits)"[...]] } ?? []))

        let frame = MessageFrame(
            around: TextSize(ending),
            code: .plain(digits.count),
            minutes: .plain(String(minutes).count)
        )
        let predicted = frame.choice(of: forms, names: [rendering.appName, tenantName]).size
        let encoding = TextEncoding(sent.text)
        #expect(predicted.length == encoding.units)
        #expect(predicted.alphabet == encoding.alphabet)
        #expect(predicted.fitsOneSegment == (encoding.segments == 1))
    }
}

extension String {
    /// Runs of decimal digits of any script.
    fileprivate var digitRuns: [String] {
        split { !$0.unicodeScalars.allSatisfy { $0.properties.numericType == .decimal } }.map(String.init)
    }
}
