// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestSupport
import TestTools
import Testing

@testable import Sandbox

@Suite(.timeLimit(.minutes(5)))
struct MailServerTests {
    private static let login = SMTPCredentials(user: "courier", password: "pass word")

    @Test
    func `a mail is in the mailbox and the record file before it is answered`() async throws {
        try await withTemporaryFile { path in
            try await withSandbox(SandboxConfiguration(recordFile: path)) { client in
                let mail = try await MailClient(client.sandbox)
                let reply = try await mail.send(MailClient.mail(), to: ["person@example.com", "other@example.com"])
                #expect(reply.hasPrefix("250 "))
                let email = try #require(await client.sandbox.emails(to: "other@example.com").first)
                #expect(email.subject == "Sign in to Acme")
                #expect(email.from == "Acmé <code@acme.example>")
                #expect(email.to == ["person@example.com", "other@example.com"])
                #expect(email.messageID == "0191b6a0-send@acme.example")
                #expect(email.links == ["https://acme.example/in?t=abc123456def&x=12"])
                #expect(email.code == "482913")
                #expect(email.text?.contains("code is 482913. Or") == true)
                #expect(email.html?.contains("<b>482913</b>") == true)
                let line = try #require(try recordedLines(path).first)
                #expect(line["kind"] as? String == "email")
                #expect(line["provider"] as? String == "smtp")
                #expect(line["reference"] as? String == "0191b6a0-send")
                #expect(line["to"] as? String == "person@example.com,other@example.com")
                #expect(line["accepted"] as? Bool == true)
                #expect(try await mail.say("QUIT").hasPrefix("221"))
                let listed = try await client.request("GET", "/sandbox/emails?to=person@example.com").objects("emails")
                #expect(listed.map { $0["subject"] as? String } == ["Sign in to Acme"])
            }
        }
    }

    @Test
    func `commands out of order and out of form are refused`() async throws {
        try await withSandbox { client in
            let mail = try await MailClient(client.sandbox)
            let dialogue = [
                ("MAIL FROM:<a@b.example>", "503"), ("EHLO", "501"), ("EHLO me", "250"),
                ("RCPT TO:<a@b.example>", "503"), ("DATA", "503"), ("MAIL FROM:a@b.example", "501"),
                ("MAIL FROM:<a@b.example> SIZE=9999999", "552"),
                ("mail from:<> SIZE=10", "250"), ("MAIL FROM:<>", "503"), ("DATA", "503"), ("RCPT TO:<nobody>", "501"),
                ("RCPT TO:<>", "501"), ("RCPT TO:<a@b.example>", "250"), ("RSET", "250"), ("DATA", "503"),
                ("NOOP", "250"), ("AUTH PLAIN AGEAYg==", "502"), ("HELLO", "500"), ("VRFY a", "252"),
            ]
            for (command, code) in dialogue {
                let reply = try await mail.say(command)
                #expect(reply.hasPrefix(code), "\(command)")
            }
            #expect(await client.sandbox.emails().isEmpty)
        }
    }

    @Test
    func `a client authenticates by PLAIN or LOGIN where it has to`() async throws {
        try await withSandbox(SandboxConfiguration(smtpCredentials: Self.login)) { client in
            func encoded(_ text: String) -> String { Data(text.utf8).base64EncodedString() }
            let mail = try await MailClient(client.sandbox)
            #expect(try await mail.say("EHLO me").contains("AUTH PLAIN LOGIN"))
            #expect(try await mail.say("MAIL FROM:<a@b.example>").hasPrefix("530"))
            #expect(try await mail.say("AUTH PLAIN " + encoded("\0courier\0wrong")).hasPrefix("535"))
            #expect(try await mail.say("AUTH PLAIN").hasPrefix("334"))
            #expect(try await mail.say("*").hasPrefix("501"))
            #expect(try await mail.say("AUTH LOGIN").hasPrefix("334 VXNlcm5hbWU6"))
            #expect(try await mail.say(encoded("courier")).hasPrefix("334 UGFzc3dvcmQ6"))
            #expect(try await mail.say(encoded("pass word")).hasPrefix("235"))
            #expect(try await mail.say("MAIL FROM:<a@b.example>").hasPrefix("250"))
            let other = try await MailClient(client.sandbox)
            _ = try await other.say("EHLO me")
            #expect(try await other.say("AUTH PLAIN " + encoded("\0courier\0pass word")).hasPrefix("235"))
            #expect(!"\(Self.login)".contains("pass word"))
        }
    }

    @Test
    func `dots are unstuffed, and only a dot between whole line ends ends a mail`() async throws {
        try await withSandbox { client in
            let mail = try await MailClient(client.sandbox)
            _ = try await mail.say("EHLO me")
            _ = try await mail.say("MAIL FROM:<a@b.example>")
            _ = try await mail.say("RCPT TO:<c@d.example>")
            _ = try await mail.say("DATA")
            try mail.connection.send("\r\n..two dots\r\n...\r\nsmuggled\n.\nMAIL FROM:<x@y.example>\r\n.\r\n")
            #expect(await mail.reply().hasPrefix("250"))
            let text = ".two dots\n..\nsmuggled\n.\nMAIL FROM:<x@y.example>\n"
            #expect(await client.sandbox.emails().map(\.text) == [text])
        }
    }

    @Test
    func `limits end in refusals`() async throws {
        try await withSandbox { client in
            let mail = try await MailClient(client.sandbox)
            let long = (0..<20_000).map { _ in String(repeating: "x", count: 60) }.joined(separator: "\n")
            #expect(try await mail.send(long, to: ["c@d.example"]).hasPrefix("552"))
            _ = try await mail.say("MAIL FROM:<a@b.example>")
            for number in 0..<100 { _ = try await mail.say("RCPT TO:<c\(number)@d.example>") }
            #expect(try await mail.say("RCPT TO:<c@d.example>").hasPrefix("452"))
            let endless = try await MailClient(client.sandbox)
            #expect(try await endless.say("EHLO " + String(repeating: "x", count: 5000)).hasPrefix("500"))
            #expect(await endless.connection.read().end == .closed)
            let useless = try await MailClient(client.sandbox)
            for _ in 0..<19 { #expect(try await useless.say("WHAT").hasPrefix("500")) }
            #expect(try await useless.say("WHAT").hasPrefix("421"))
            #expect(await client.sandbox.emails().isEmpty)
        }
    }

    @Test
    func `a client that says nothing is let go`() async throws {
        try await withSandbox(SandboxConfiguration(smtpTimeout: .milliseconds(100))) { client in
            let mail = try await MailClient(client.sandbox)
            #expect(await mail.connection.read().end == .closed)
        }
    }

    @Test
    func `faults happen by address`() async throws {
        try await withTemporaryFile { path in
            try await withSandbox(SandboxConfiguration(recordFile: path)) { client in
                let sandbox = client.sandbox
                sandbox.add(.error(code: 450), to: "a@d.example")
                sandbox.add(.reason("unknown"), to: "a@d.example")
                sandbox.add(.status(451, code: nil, retryAfter: nil), to: "b@d.example")
                sandbox.add(.cut(.before), to: "c@d.example")
                sandbox.add(.cut(.after), to: "c@d.example")
                sandbox.add(.silence, to: "d@d.example")
                func send(_ recipient: String) async throws -> String {
                    try await MailClient(sandbox).send(MailClient.mail(), to: [recipient])
                }
                #expect(try await send("a@d.example").hasPrefix("450"))
                #expect(try await send("a@d.example").hasPrefix("550"))
                #expect(try await send("a@d.example").hasPrefix("250"))
                #expect(try await send("b@d.example").hasPrefix("451"))
                #expect(try await send("c@d.example").isEmpty)
                #expect(try await send("c@d.example").isEmpty)
                let silent = try await MailClient(sandbox)
                async let none = silent.send(MailClient.mail(), to: ["d@d.example"])
                try await eventually("taken") { await sandbox.emails(to: "d@d.example").count == 1 }
                silent.connection.hangUp()
                #expect(try await none.isEmpty)
                #expect(await sandbox.emails().map { $0.to[0] } == ["a@d.example", "c@d.example", "d@d.example"])
                let outcomes = try recordedLines(path).map { $0["outcome"] as? String }
                #expect(outcomes == ["accepted", "status_451", "cut_after", "silence"])
            }
        }
    }
}
