// SPDX-License-Identifier: Apache-2.0

import Formats
import Testing

@Suite struct TextEncodingTests {
    private static func times(_ count: Int, _ text: String) -> String { String(repeating: text, count: count) }

    static let gsm7: [(text: String, units: Int, segments: Int)] = [
        ("", 0, 1), ("a", 1, 1), (times(160, "a"), 160, 1), (times(161, "a"), 161, 2), (times(306, "a"), 306, 2),
        (times(307, "a"), 307, 3), (times(459, "a"), 459, 3), (times(460, "a"), 460, 4),
        ("€", 2, 1), (times(80, "€"), 160, 1), (times(80, "€") + "a", 161, 2), (times(81, "€"), 162, 2),
        (times(152, "€"), 304, 2),
        (times(153, "€"), 306, 3), ("{}[]~\\|^\u{c}", 18, 1),
        ("@£$¥èéùìòÇ\nØø\rÅåΔ_ΦΓΛΩΠΨΣΘΞÆæßÉ", 31, 1), ("¡ÄÖÑÜ§¿äöñüà¤", 13, 1), ("\r\n", 2, 1),
    ]

    @Test(arguments: gsm7.indices)
    func `a text in the basic alphabet counts septets, two for the extension`(index: Int) {
        let (text, units, segments) = Self.gsm7[index]
        let encoding = TextEncoding(text)
        #expect(encoding.alphabet == .gsm7)
        #expect(encoding.units == units)
        #expect(encoding.segments == segments)
    }

    static let ucs2: [(text: String, units: Int, segments: Int)] = [
        ("ç", 1, 1), ("`", 1, 1), (times(70, "ж"), 70, 1), (times(71, "ж"), 71, 2), (times(134, "ж"), 134, 2),
        (times(135, "ж"), 135, 3), ("🔑", 2, 1), (times(35, "🔑"), 70, 1), (times(36, "🔑"), 72, 2),
        (times(66, "🔑"), 132, 2),
        (times(67, "🔑"), 134, 3),
        ("e\u{301}", 2, 1), ("a€ж", 3, 1), ("\t", 1, 1), ("\u{1b}", 1, 1), ("’", 1, 1),
    ]

    @Test(arguments: ucs2.indices)
    func `any other character makes the whole text count 16-bit units`(index: Int) {
        let (text, units, segments) = Self.ucs2[index]
        let encoding = TextEncoding(text)
        #expect(encoding.alphabet == .ucs2)
        #expect(encoding.units == units)
        #expect(encoding.segments == segments)
    }

    @Test func `a part ends before a character that does not fit it whole`() {
        // 306 septets fit two parts (153 each) only if the euro sign's two septets could be split between them.
        #expect(TextEncoding(Self.times(152, "a") + "€" + Self.times(152, "a")).segments == 3)
        #expect(TextEncoding(Self.times(152, "a") + "€" + Self.times(151, "a")).segments == 2)
        #expect(TextEncoding(Self.times(66, "ж") + "🔑" + Self.times(66, "ж")).segments == 3)
        #expect(TextEncoding(Self.times(66, "ж") + "🔑" + Self.times(65, "ж")).segments == 2)
    }

    @Test func `the basic alphabet has 127 characters and the extension ten`() {
        let all = (0...0x2fff).compactMap { Unicode.Scalar($0) }.map { TextEncoding(String($0)) }
        #expect(all.count { $0.alphabet == .gsm7 && $0.units == 1 } == 127)
        #expect(all.count { $0.alphabet == .gsm7 && $0.units == 2 } == 10)
    }
}
