// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import Formats

@Suite struct JSONWriterTests {
    private func written(_ body: (inout JSONWriter) -> Void) -> String {
        var writer = JSONWriter()
        body(&writer)
        return String(decoding: writer.bytes, as: UTF8.self)
    }

    @Test func `members stand in the order of the calls with commas between`() {
        let text = written { writer in
            writer.object { root in
                root.member("b", "x")
                root.object("empty") { _ in }
                root.object("inner") { inner in
                    inner.member("one", 1)
                    inner.null("none")
                }
                root.array("list") { list in
                    list.element(true)
                    list.object { $0.member("k", Int64.min) }
                    list.array { _ in }
                    list.element("s")
                }
                root.member("a", ifPresent: nil as String?)
                root.member("c", ifPresent: Int32(7))
                root.member("d", 1.5)
                root.member("e", Double.nan)
                root.member("f", false)
            }
        }
        let inner = #""inner":{"one":1,"none":null},"list":[true,{"k":-9223372036854775808},[],"s"]"#
        #expect(text == #"{"b":"x","empty":{},"# + inner + #","c":7,"d":1.5,"e":null,"f":false}"#)
    }

    @Test(
        arguments: [
            ("plain", #""plain""#), ("", #""""#), ("\"\\", #""\"\\""#), ("a\nb\rc\td", #""a\nb\rc\td""#),
            ("\u{0}\u{1}\u{8}\u{f}\u{10}\u{1f}\u{7f}", #""\u0000\u0001\u0008\u000f\u0010\u001f\u007f""#),
            ("a\u{2028}\u{2029}b", #""a\u2028\u2029b""#),
            ("\u{2027}\u{202a}\u{20a8}é/漢", "\"\u{2027}\u{202a}\u{20a8}é/漢\""),
        ]
    )
    func `a text is escaped where a log or a script would stumble`(text: String, literal: String) {
        let document = written { writer in writer.array { $0.element(text) } }
        #expect(Array(document.utf8) == Array("[\(literal)]".utf8))
    }

    @Test func `a name that is no literal is escaped like any text`() {
        let document = written { writer in
            writer.object { root in
                root.member(named: "a\"\n", 1)
                root.object(named: "\u{2028}\\") { $0.member(named: "é", true) }
            }
        }
        #expect(document == #"{"a\"\n":1,"\u2028\\":{"é":true}}"#)
    }

    @Test func `joined fields carry their length so that no two lists are alike`() {
        var joiner = FieldJoiner()
        joiner.append("é")
        joiner.append([1, 2, 3])
        joiner.append("")
        joiner.append(UInt32(0x0102_0304))
        #expect(joiner.bytes == [0, 0, 0, 2, 0xc3, 0xa9, 0, 0, 0, 3, 1, 2, 3, 0, 0, 0, 0, 0, 0, 0, 4, 1, 2, 3, 4])
    }
}
