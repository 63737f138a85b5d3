// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

@testable import Sandbox

@Suite
struct MailParsingTests {
    private static func parsed(_ text: String) -> ParsedMail {
        ParsedMail(Array(text.replacingOccurrences(of: "\n", with: "\r\n").utf8))
    }

    @Test(arguments: [
        ("plain", "plain"),
        ("=?UTF-8?B?w4TDtsO8?= x", "Äöü x"),
        ("=?utf-8?q?a_=C3=A4?= =?utf-8?Q?=C3=B6?=", "a äö"),
        ("=?utf-8?Q?=E2=82?= =?utf-8?Q?=AC?=", "€"),
        ("=?iso-8859-1*en?Q?=E4?=", "ä"),
        ("one =?utf-8?Q?two?= three =?utf-8?B?Zm91cg==?=", "one two three four"),
        ("=?utf-8?X?y?=", "=?utf-8?X?y?="),
        ("=?=?=?utf-8?Q?z?=", "=?=?z"),
        ("=?utf-8?Q?unfinished", "=?utf-8?Q?unfinished"),
        ("", ""),
    ])
    func `header words are decoded`(encoded: String, decoded: String) {
        #expect(EncodedWords.decoded(encoded) == decoded)
    }

    @Test
    func `a folded header is one, and the first of a name counts`() {
        let mail = Self.parsed("Subject: one\n two\n\tthree\nsubject: other\nBroken line\n folded\n\nbody 123456\n")
        #expect(mail.subject == "one two three")
        #expect(mail.text == "body 123456\n")
        #expect(mail.code == "123456")
    }

    @Test
    func `parts are found in parts, attachments are not shown`() {
        let mail = Self.parsed(
            """
            Content-Type: multipart/mixed; boundary=outer

            preamble
            --outer
            Content-Type: text/plain
            Content-Disposition: attachment; filename="a;b.txt"

            attached
            --outer
            Content-Type: multipart/alternative; boundary="in ner"

            --in ner
            Content-Type: TEXT/plain; charset=ISO-8859-1
            Content-Transfer-Encoding: QUOTED-PRINTABLE

            gr=FCn
            --in ner  \n\
            content-type: text/html

            <a href='https://a.example/?x=1&amp;y=2'>go</a> 654321
            --in ner--
            --outer--
            epilogue
            """
        )
        #expect(mail.text == "grün")
        #expect(mail.html == "<a href='https://a.example/?x=1&amp;y=2'>go</a> 654321")
        #expect(mail.links == ["https://a.example/?x=1&y=2"])
        #expect(mail.code == "654321")
    }

    @Test
    func `links end where people end them, and their digits are no code`() {
        let text = "See (https://a.example/x), http://b.example. <https://c.example/123456> ftp://no.example https://"
        #expect(
            MailLinks.links(text: text, html: nil)
                == ["https://a.example/x", "http://b.example", "https://c.example/123456"]
        )
        #expect(Self.parsed("\n" + text).code == nil)
        #expect(Self.parsed("\n\(text) 222222").code == "222222")
        let html = "<style>.a{}</style>a<b>&lt;b&gt;</b><script>1<2</script>c<d"
        #expect(MailLinks.readableText(of: html).split(separator: " ") == ["a", "<b>", "c"])
    }

    @Test
    func `base64 is read across lines, what is broken stands for itself`() {
        #expect(TransferEncoding.base64(Array("aGVs\r\nbG8=".utf8)) == Array("hello".utf8))
        #expect(TransferEncoding.quotedPrintable(Array("a=\r\nb=\nc=zz=4".utf8)) == Array("abc=zz=4".utf8))
    }
}
