// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import Formats

@Suite struct JSONScannerTests {
    @Test(
        arguments: [
            "null", "true", "false", "0", "-0", "1", "-1", "1.5", "1e3", "1E+3", "1.25e-3", "[]", "{}", "\"\"",
            " \t\r\n[ 1 , 2 ]\n", "{\"a\":[{\"b\":null}]}", "\"\\\"\\\\\\/\\b\\f\\n\\r\\t\\u00e9\"",
            "\"\\ud83d\\ude00\"", "\"\u{7f}\u{2028}\u{10ffff}\"", "\"\\u0000\"", "\"\\uFFFF\"",
            "9223372036854775807", "-9223372036854775808", "1.7976931348623157e308", "1e-400", "123456789012345678.0",
        ]
    )
    func `a document that RFC 8259 allows is read`(text: String) throws {
        _ = try JSONScanner.parse(Array(text.utf8))
    }

    @Test(
        arguments: [
            "", " ", "nul", "nulL", "True", "tru e", "truefalse", "null null", "1 2", "[] []", "[1,]", "[,1]", "[1 2]",
            "[", "]", "{", "}", "{\"a\"}", "{\"a\":}", "{\"a\":1,}", "{a:1}", "{'a':1}", "{1:1}", "{\"a\":1 \"b\":2}",
            "{\"a\" 1}", "{,}", "01", "-01", "-", "+1", ".5", "1.", "1.e3", "1e", "1e+", "0x10", "1_000", "NaN",
            "Infinity", "-Infinity", "\"", "\"a", "\"\\\"", "\"\\x\"", "\"\\u12\"", "\"\\u12g4\"", "\"\\", "\"\\u",
            "\"a\nb\"", "\"a\tb\"", "\"\u{0}\"", "\u{0}", "// c\n1", "/* c */1", "\u{feff}{}", "\u{a0}1", "1\u{c}",
            "\"\\ud800\"", "\"\\udc00\"", "\"\\ud800x\"", "\"\\ud800\\n\"", "\"\\ud800\\ud800\"", "\"\\ud800\\u0041\"",
            "\"\\udc00\\ud800\"", "\"\\ud83d\\ude0\"",
        ]
    )
    func `a document that RFC 8259 does not allow is no JSON`(text: String) {
        #expect(throws: JSONFault.notJSON) { try JSONScanner.parse(Array(text.utf8)) }
    }

    @Test(
        arguments: [
            [0x80], [0xff], [0xc3], [0xc0, 0x80], [0xe0, 0x80, 0xaf], [0xed, 0xa0, 0x80], [0xf4, 0x90, 0x80, 0x80],
            [0xf8, 0x88, 0x80, 0x80, 0x80], [0xe2, 0x82],
        ]
    )
    func `bytes that are no UTF-8 are told wherever they stand`(bytes: [UInt8]) {
        let quote = UInt8(ascii: "\"")
        for document in [bytes, [quote] + bytes + [quote], Array("{]".utf8) + bytes, Array("{} ".utf8) + bytes] {
            #expect(throws: JSONFault.invalidUTF8) { try JSONScanner.parse(document) }
        }
    }

    @Test func `sixteen nested containers are read and seventeen are not`() throws {
        func nested(_ depth: Int, _ open: String, _ close: String) -> [UInt8] {
            Array((String(repeating: open, count: depth) + String(repeating: close, count: depth)).utf8)
        }
        _ = try JSONScanner.parse(nested(16, "[", "]"))
        _ = try JSONScanner.parse(
            Array((String(repeating: "{\"a\":", count: 15) + "{}" + String(repeating: "}", count: 15)).utf8)
        )
        #expect(throws: JSONFault.tooDeep) { try JSONScanner.parse(nested(17, "[", "]")) }
        #expect(throws: JSONFault.tooDeep) {
            try JSONScanner.parse(Array(String(repeating: "{\"a\":", count: 17).utf8))
        }
        #expect(throws: JSONFault.tooDeep) { try JSONScanner.parse(nested(30_000, "[", "]")) }
        #expect(throws: JSONFault.tooDeep) {
            try JSONScanner.parse(Array("[[]]".utf8), limits: JSONLimits(maximumDepth: 1))
        }
    }

    @Test func `containers side by side do not add up to depth`() throws {
        let text = "[" + Array(repeating: "[],{},[1],{\"a\":1}", count: 40).joined(separator: ",") + "]"
        guard case .array(let elements) = try JSONScanner.parse(Array(text.utf8)) else {
            Issue.record("no array")
            return
        }
        #expect(elements.count == 160)
    }

    @Test(
        arguments: [
            #"{"a":1,"a":1}"#, #"{"a":1,"b":2,"a":3}"#, #"{"a":1,"\u0061":2}"#, #"[{"x":{"":1,"":2}}]"#,
        ]
    )
    func `a name twice in one object is a fault`(text: String) {
        #expect(throws: JSONFault.duplicateKey) { try JSONScanner.parse(Array(text.utf8)) }
    }

    @Test func `a name twice is found among many and names are compared by bytes`() throws {
        let names = (0..<2000).map { "\"k\($0)\":\($0)" }
        _ = try JSONScanner.parse(Array(("{" + names.joined(separator: ",") + "}").utf8))
        for repeated in [0, 15, 16, 1999] {
            let text = "{" + (names + ["\"k\(repeated)\":0"]).joined(separator: ",") + "}"
            #expect(throws: JSONFault.duplicateKey) { try JSONScanner.parse(Array(text.utf8)) }
        }
        // Canonically equivalent keys are different keys, even with equal lengths, as in the second pair.
        _ = try JSONScanner.parse(Array("{\"\u{e9}\":1,\"e\u{301}\":2}".utf8))
        _ = try JSONScanner.parse(Array("{\"a\u{301}\u{323}\":1,\"a\u{323}\u{301}\":2}".utf8))
        _ = try JSONScanner.parse(Array(#"{"a":{"a":1},"b":{"a":1}}"#.utf8))
    }

    @Test(
        arguments: [
            "9223372036854775808", "-9223372036854775809", "123456789012345678901234567890", "1e309", "-1e309",
            "1.8e308", "[1,1e999]", "1" + String(repeating: "0", count: 5000),
        ]
    )
    func `a number that keeps no value is out of range`(text: String) {
        #expect(throws: JSONFault.numberOutOfRange) { try JSONScanner.parse(Array(text.utf8)) }
    }

    @Test func `strings numbers and members keep what the document says`() throws {
        let text = #"{"z":"a\u00e9\ud83d\ude00\"\\\/\b\f\n\r\tz","a":-12,"m":1.50,"n":[true,null]}"#
        guard case .object(let object) = try JSONScanner.parse(Array(text.utf8)) else {
            Issue.record("no object")
            return
        }
        #expect(object.members.map(\.name) == ["z", "a", "m", "n"])
        guard case .string("a\u{e9}\u{1f600}\"\\/\u{8}\u{c}\n\r\tz") = object["z"] else {
            Issue.record("another string")
            return
        }
        guard case .number(let integer) = object["a"], case .number(let fraction) = object["m"] else {
            Issue.record("no numbers")
            return
        }
        #expect(integer.int64 == -12 && integer.double == -12)
        #expect(fraction.literal == "1.50" && fraction.int64 == nil && fraction.double == 1.5)
        #expect(object["q"] == nil)
    }
}
