// SPDX-License-Identifier: Apache-2.0

import SMTPClient
import TestTools
import Testing
import Verification

@testable import Providers

@Suite(.serialized) struct `An internationalised e-mail address` {
    private static let offering = "250-here\r\n250-8BITMIME\r\n250 SMTPUTF8"
    private static let unavailable = "smtputf8_unavailable"

    private func send(
        to recipient: String,
        from: String = "no-reply@example.com",
        hello: String? = nil
    ) async throws -> (answer: ProviderAnswer, seen: MailRecord) {
        let script: [MailMoment: MailStep] = hello.map { [.hello: .say($0)] } ?? [:]
        return try await ScriptedMailServer.with(script) { server in
            let provider = try mailProvider(port: server.port, from: from)
            return (await provider.send(try mail(to: recipient)), server.seen)
        }
    }

    @Test(arguments: [
        ("ada@müller.example", "xn--mller-kva.example"), ("ada@MÜLLER.Example", "xn--mller-kva.example"),
        ("ada@mu\u{308}ller.example", "xn--mller-kva.example"),
        // Nontransitional processing keeps these letters (UTS 46, section 4).
        ("ada@straße.example", "xn--strae-oqa.example"), ("ada@βόλος.example", "xn--nxasmm1c.example"),
        ("ada@例子.公司", "xn--fsqu00a.xn--55qx5d"), ("ada@مثال.إختبار", "xn--mgbh0fb.xn--kgbechtv"),
        ("ada@例子。公司.example", "xn--fsqu00a.xn--55qx5d.example"), ("ada@ＥＸＡＭＰＬＥ.ｃｏｍ", "example.com"),
        ("ada@xn--mller-kva.example", "xn--mller-kva.example"), ("ada@example.com", "example.com"),
        ("ada@sub.müller.co.example", "sub.xn--mller-kva.co.example"),
    ])
    func `has its domain in ASCII`(text: String, domain: String) throws {
        let address = try #require(EmailAddress(text).flatMap { MailAddress($0) })
        #expect(address.domain == domain)
        #expect(address.text == "ada@\(domain)")
        #expect(!address.needsUTF8)
    }

    @Test(arguments: [
        // A private-use letter, a leading mark, letters that map to a slash or IPv4 address, mixed directions, too
        // long.
        "ada@\u{e000}.example", "ada@\u{301}a.example", "ada@a℀b.example", "ada@１９２.０.２.７",
        "ada@aא.example", "ada@\(String(repeating: "ü", count: 63)).example",
    ])
    func `whose domain cannot exist is refused without a call`(text: String) async throws {
        let (answer, seen) = try await send(to: text)
        #expect(answer == ProviderAnswer(.refused, errorCode: "recipient_domain"))
        #expect(seen.connections == 0)
    }

    @Test(arguments: [nil, Self.offering])
    func `with a domain beyond ASCII alone needs no SMTPUTF8 and uses none`(hello: String?) async throws {
        let (answer, seen) = try await send(to: "ada@müller.example", from: "no-reply@bücher.example", hello: hello)
        #expect(answer == ProviderAnswer(.accepted, messageID: "\(sendIDText)@xn--bcher-kva.example"))
        #expect(seen.commands.first?.hasPrefix("MAIL FROM:<no-reply@xn--bcher-kva.example>") == true)
        #expect(seen.commands.allSatisfy { !$0.contains("SMTPUTF8") })
        #expect(seen.commands.last == "RCPT TO:<ada@xn--mller-kva.example>")
    }

    @Test(arguments: [offering, "250-here\r\n250-SMTPUTF8\r\n250 SIZE 100000"])
    func `with another script before the @ goes to a server that has SMTPUTF8`(hello: String) async throws {
        let (answer, seen) = try await send(to: "用户@例子.公司", hello: hello)
        #expect(answer.outcome == .accepted)
        #expect(seen.commands.first?.hasSuffix(" SMTPUTF8") == true)
        #expect(seen.commands.last == "RCPT TO:<用户@xn--fsqu00a.xn--55qx5d>")
        #expect(seen.bodies == 1)
    }

    @Test(arguments: [nil, "250-here\r\n250 8BITMIME", "250 here SMTPUTF8"])
    func `with another script before the @ is refused for a server without SMTPUTF8`(hello: String?) async throws {
        let (answer, seen) = try await send(to: "用户@example.org", hello: hello)
        #expect(answer == ProviderAnswer(.refused, errorCode: Self.unavailable))
        // libcurl may send the recipient before it checks whether to continue; the message itself is never sent.
        #expect(seen.bodies == 0)
    }

    @Test func `of the sender that no server takes without SMTPUTF8 is a configuration fault`() async throws {
        let (answer, seen) = try await send(to: "ann@example.org", from: "почта@example.com")
        #expect(answer == ProviderAnswer(.misconfigured, errorCode: Self.unavailable))
        #expect(seen.bodies == 0)
    }

    @Test func `stands in the headers of the message that a real server takes`() async throws {
        try await MailServer.with(.utf8) { server in
            let provider = try mailProvider(port: server.port)
            let answer = await provider.send(try mail(subject: "Grüße", to: "用户@例子.公司"))
            #expect(answer.outcome == .accepted)
            let taken = try #require(try server.messages().first)
            #expect(taken.recipients == ["用户@xn--fsqu00a.xn--55qx5d"])
            #expect(taken.raw.contains("\r\nTo: <用户@xn--fsqu00a.xn--55qx5d>\r\n"))
            #expect(taken.subject == "Grüße")
        }
    }
}
