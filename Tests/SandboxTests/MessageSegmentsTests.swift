// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import Sandbox

@Suite
struct MessageSegmentsTests {
    struct Example: Sendable {
        let text: String
        let encoding: MessageSegments.Encoding
        let units: Int
        let count: Int

        init(_ text: String, _ encoding: MessageSegments.Encoding, _ units: Int, _ count: Int) {
            (self.text, self.encoding, self.units, self.count) = (text, encoding, units, count)
        }

        init(_ letter: String, times: Int, _ encoding: MessageSegments.Encoding, _ units: Int, _ count: Int) {
            self.init(String(repeating: letter, count: times), encoding, units, count)
        }
    }

    @Test(arguments: [
        Example("", .gsm7, 0, 1),
        Example("a", times: 160, .gsm7, 160, 1),
        Example("a", times: 161, .gsm7, 161, 2),
        Example("a", times: 306, .gsm7, 306, 2),
        Example("a", times: 307, .gsm7, 307, 3),
        Example("€", times: 80, .gsm7, 160, 1),
        // 153 septets hold 76 pairs; pair 77 starts the next part, together with its escape.
        Example("€", times: 81, .gsm7, 162, 2),
        Example("€", times: 152, .gsm7, 304, 2),
        Example("€", times: 153, .gsm7, 306, 3),
        Example("Ç", .gsm7, 1, 1),
        Example("ç", .ucs2, 1, 1),
        Example("’", .ucs2, 1, 1),
        Example("e\u{301}", .ucs2, 2, 1),
        Example("^{}\\[~]|\u{0C}", .gsm7, 18, 1),
        Example("`", .ucs2, 1, 1),
        Example("\r\n", .gsm7, 2, 1),
        Example("ж", times: 70, .ucs2, 70, 1),
        Example("ж", times: 71, .ucs2, 71, 2),
        Example("ж", times: 134, .ucs2, 134, 2),
        Example("ж", times: 135, .ucs2, 135, 3),
        Example("👋", times: 35, .ucs2, 70, 1),
        // 67 units hold 33 pairs.
        Example("👋", times: 36, .ucs2, 72, 2),
        Example("👋", times: 66, .ucs2, 132, 2),
        Example("👋", times: 67, .ucs2, 134, 3),
    ])
    func `a text takes as many parts as the standard says`(example: Example) {
        let segments = MessageSegments(of: example.text)
        #expect(segments.encoding == example.encoding)
        #expect(segments.units == example.units)
        #expect(segments.count == example.count)
    }

    @Test(arguments: [
        ("", ""), ("Ñandú [1]\r\n€", "Ñand? [1]\r\n€"), ("e\u{301}", "e?"), ("👋 ’", "? ?"),
    ])
    func `GSM-7 has question marks for what it lacks`(text: String, carried: String) {
        #expect(MessageSegments.gsm7(text) == carried)
    }

    @Test(arguments: [
        ("482913 is your code", "482913"),
        ("1234567 is not, 654321 is", "654321"),
        ("12345", nil),
        ("Pin AB12\n@acme.example #AB12CD", "AB12CD"),
        ("111111\n@acme.example #222222", "222222"),
        ("@acme.example", nil),
        ("رمز 730156.", "730156"),
        ("", nil),
    ])
    func `the code is found in the text`(body: String, code: String?) {
        #expect(CodeFinder.code(in: body) == code)
    }
}
