// SPDX-License-Identifier: Apache-2.0

import Formats
import FoundationEssentials
import SMTPClient
import TestTools
import Testing
import Verification

@testable import Providers

@Suite struct `A mail message` {
    private static let names: Set<String> = [
        "Date", "From", "To", "Subject", "Message-ID", "Auto-Submitted", "MIME-Version", "Content-Type",
    ]

    private func bytes(subject: String, text: String = "t", senderName: String) throws -> [UInt8] {
        let outbound = try mail(subject: subject, text: text, html: text, senderName: senderName)
        guard case .email(let email) = outbound.content else { return [] }
        let message = MailMessage(
            email: email,
            recipient: try #require(MailAddress(email.recipient)),
            sendID: outbound.sendID,
            from: try #require(EmailAddress("no-reply@example.com").flatMap { MailAddress($0) }),
            date: Timestamp(microseconds: 0)
        )
        return message.bytes
    }

    /// The headers with names, unfolded.
    private func headers(_ message: String) -> [(name: String, value: String)] {
        let head = message.replacing("\r\n ", with: " ").split(separator: "\r\n\r\n").first ?? ""
        return head.split(separator: "\r\n").map { line in
            let parts = line.split(separator: ": ", maxSplits: 1)
            return (String(parts[0]), parts.count == 2 ? String(parts[1]) : "")
        }
    }

    /// A header value as a mail program displays it, with encoded words decoded.
    private func decoded(_ value: String) throws -> String {
        guard value.hasPrefix("=?") else { return value }
        var bytes = Data()
        for word in value.split(separator: " ") {
            #expect(word.utf8.count <= 75 && word.hasPrefix("=?UTF-8?B?") && word.hasSuffix("?="))
            let piece = try #require(Data(base64Encoded: String(word.dropFirst(10).dropLast(2))))
            #expect(String(validating: piece, as: UTF8.self) != nil, "a character is divided")
            bytes += piece
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    @Test func `stays one message with its own headers whatever names and texts say`() throws {
        var random = TestSeed("mail")
        let seed = random.seed
        for round in 0..<3000 {
            let subject = random.hostileText()
            let name = random.hostileText()
            let message = String(
                decoding: try bytes(subject: subject, text: random.hostileText(), senderName: name),
                as: UTF8.self
            )
            let place: Comment = "round \(round), COURIER_TEST_SEED=\(seed)"
            let headers = headers(message)
            try #require(Set(headers.map(\.name)) == Self.names && headers.count == Self.names.count, place)
            try #require(
                message.utf8.allSatisfy { (0x20...0x7e).contains($0) || [0x09, 0x0d, 0x0a].contains($0) },
                place
            )
            let lines = message.split(separator: "\r\n", omittingEmptySubsequences: false)
            try #require(lines.allSatisfy { $0.utf8.count <= 78 && !$0.utf8.contains(0x0d) && !$0.utf8.contains(0x0a) })
            let shown = try decoded(try #require(headers.first { $0.name == "Subject" }).value)
            try #require(!shown.unicodeScalars.contains { $0.properties.generalCategory == .control }, place)
            let words = subject.unicodeScalars.filter { $0.properties.generalCategory != .control }
            try #require(
                shown.unicodeScalars.filter { $0 != " " }.elementsEqual(words.filter { !Self.isSpace($0) }),
                place
            )
        }
    }

    private static func isSpace(_ scalar: Unicode.Scalar) -> Bool {
        [" ", "\u{2028}", "\u{2029}"].contains(scalar)
    }

    @Test(arguments: [
        ("Acme", "\"Acme\""), ("A \"b\" \\c", "\"A \\\"b\\\" \\\\c\""), ("Ac\r\nBcc: x@y.zz", "\"Ac  Bcc: x@y.zz\""),
        ("=?UTF-8?Q?x?=", "=?UTF-8?B?PT9VVEYtOD9RP3g/PQ==?="), ("Ö", "=?UTF-8?B?w5Y=?="), (" a ", "\"a\""),
    ])
    func `writes a display name so that it is a name and nothing else`(name: String, expected: String) {
        #expect(HeaderText.phrase(name) == expected)
    }

    @Test(arguments: [
        ("", ""), ("a=b", "a=3Db"), ("a \nb\t", "a=20\r\nb=09"), ("\r\n\r", "\r\n\r\n"), ("é", "=C3=A9"),
        (String(repeating: "x", count: 76), String(repeating: "x", count: 75) + "=\r\nx"),
        (String(repeating: "é", count: 13), String(repeating: "=C3=A9", count: 12) + "=C3=\r\n=A9"),
    ])
    func `quotes its text in short lines`(text: String, expected: String) {
        #expect(String(decoding: QuotedPrintable.encoded(text), as: UTF8.self) == expected)
    }

    @Test(arguments: [
        (Int64(0), "Thu, 1 Jan 1970 00:00:00 +0000"), (1_795_237_800, "Sat, 21 Nov 2026 05:10:00 +0000"),
        (1_709_164_799, "Wed, 28 Feb 2024 23:59:59 +0000"), (1_709_164_800, "Thu, 29 Feb 2024 00:00:00 +0000"),
    ])
    func `states its date as mail does`(seconds: Int64, expected: String) {
        #expect(MailDate.text(Timestamp(milliseconds: seconds * 1000)) == expected)
    }
}

extension TestSeed {
    /// Up to forty pieces that are known to break mail programs.
    fileprivate mutating func hostileText() -> String {
        let pieces = [
            "\r", "\n", "\r\n", "\r\nBcc: x@y.zz", "\r\n\r\n", "\r\n.\r\n", "\u{0}", "\u{85}", "\u{2028}", "\u{2029}",
            "\"",
            "\\", "=?", "?=", "=?UTF-8?B?DQpCY2M6IHg=?=", "<x@y.zz>", ",", ";", ":", "(", ")", "é", "👩‍👩‍👧‍👦", "e\u{301}",
            " ", "\t", "a", "Acme", "--=_", ".", "=", "\u{7f}", "\u{202e}", "\u{feff}", "漢字",
        ]
        let count = Int.random(in: 0...40, using: &self)
        return (0..<count).map { _ in pieces.randomElement(using: &self) ?? "" }.joined()
    }
}
