// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestSupport
import TestTools
import Testing

@testable import Sandbox

/// Tests random sessions and mails; `COURIER_TEST_SEED` repeats a run.
@Suite(.timeLimit(.minutes(5)))
struct MailFuzzTests {
    private static let words = [
        "EHLO me", "HELO me", "EHLO", "MAIL FROM:<a@b.example>", "MAIL FROM:<>",
        "MAIL FROM:<a@b> SIZE=99999999999999999999", "RCPT TO:<c@d.example>", "RCPT TO:<>", "RCPT TO:", "DATA", ".",
        "..",
        "RSET", "NOOP", "AUTH PLAIN", "AUTH LOGIN", "AUTH PLAIN AGEAYg==", "AGEAYg==", "=", "*", "QUIT", "\u{0}",
        "é\u{301}\u{1F469}", "Subject: =?utf-8?Q?=C3", "",
        "Content-Type: multipart/mixed; boundary=b", "--b", "--b--", "Content-Transfer-Encoding: base64", "\n.\n",
        "\r.\r",
        "href=\"http://x&amp;", "http://", "<style", "<", "=", "=0", "=?utf-8?B?", "?=", "\t folded",
    ]

    /// A word or a few random bytes, usually with a line break.
    private static func piece(_ random: inout TestSeed) -> [UInt8] {
        var bytes =
            Int.random(in: 0..<8, using: &random) == 0
            ? (0..<Int.random(in: 0..<40, using: &random)).map { _ in UInt8.random(in: 0...255, using: &random) }
            : Array((words.randomElement(using: &random) ?? "").utf8)
        if Int.random(in: 0..<6, using: &random) > 0 { bytes += [13, 10] }
        return bytes
    }

    @Test
    func `no session of 100,000 random commands traps, holds on to bytes or makes a mail without recipient`() {
        var random = TestSeed("SMTP sessions")
        var commands = 0
        var messages = 0
        let limits = SMTPSession.Limits(line: 200, message: 4000, recipients: 3, errors: 50)
        let credentials = [nil, SMTPCredentials(user: "a", password: "b")]
        while commands < 100_000 {
            var session = SMTPSession(limits: limits, credentials: credentials[commands % 2])
            var isOver = false
            // Half of the sessions start inside the mail's content.
            let start = ["EHLO me", "MAIL FROM:<>", "RCPT TO:<c@d.example>", "DATA", ""].joined(separator: "\r\n")
            if Bool.random(using: &random) { session.receive(start.utf8) }
            for _ in 0..<400 where !isOver {
                var bytes = Self.piece(&random)
                commands += 1
                while !bytes.isEmpty {
                    // Splits the bytes into pieces, as a network does.
                    let count = Int.random(in: 1...bytes.count, using: &random)
                    session.receive(bytes.prefix(count))
                    bytes.removeFirst(count)
                    while let event = session.next(), !isOver {
                        switch event {
                        case .end: isOver = true
                        case .recipient(let address): _ = session.accept(address)
                        case .message(let envelope, let body):
                            messages += 1
                            #expect((1...3).contains(envelope.recipients.count))
                            #expect(body.count <= limits.message)
                            _ = ParsedMail(body)
                        case .reply(let reply): #expect((200...599).contains(reply.code))
                        }
                    }
                    if isOver { break }
                }
            }
        }
        #expect(messages > 50)
    }

    @Test
    func `any bytes are a mail`() {
        var random = TestSeed("mails")
        for _ in 0..<3000 {
            let bytes = (0..<Int.random(in: 0..<30, using: &random)).flatMap { _ in Self.piece(&random) }
            let mail = ParsedMail(bytes)
            #expect((mail.text ?? "").utf8.count <= bytes.count * 3)
        }
    }

    @Test
    func `a server that was sent 200 random sessions still takes a mail`() async throws {
        var random = TestSeed("SMTP server")
        try await withSandbox { client in
            let port = try await client.sandbox.waitUntilListeningForMail().port
            for _ in 0..<200 {
                let connection = try RawConnection(to: port)
                let bytes = (0..<50).flatMap { _ in Self.piece(&random) }
                // The server may have closed the connection already.
                try? connection.send(String(decoding: bytes, as: UTF8.self))
                connection.hangUp()
            }
            let reply = try await MailClient(client.sandbox).send(MailClient.mail(), to: ["last@example.com"])
            #expect(reply.hasPrefix("250"))
            #expect(await client.sandbox.emails(to: "last@example.com").count == 1)
        }
    }

    @Test(.timeLimit(.minutes(1)))
    func `a mail made to be slow is read in time`() {
        let size = 250_000
        let nested = "Content-Type: multipart/mixed;boundary=b\r\n\r\n--b\r\n"
        for piece in ["=?", "://", "<", "href=", "&amp;", "--b\r\n", "\n", "=", nested] {
            let bytes = Array(String(repeating: piece, count: size / piece.utf8.count).utf8)
            _ = ParsedMail(Array("Content-Type: text/html\r\nSubject: ".utf8) + bytes)
            _ = ParsedMail(Array("Content-Type: text/html\r\n\r\n".utf8) + bytes)
        }
    }
}
