// SPDX-License-Identifier: Apache-2.0

import Providers
import SMTPClient
import TestTools
import Testing
import Verification

@Suite(.serialized) struct `A real mail server` {
    private static let login = SMTPLogin(username: MailServer.username, password: MailServer.password)

    private func provider(
        _ server: MailServer,
        _ encryption: SMTPServer.Encryption,
        host: String = "localhost",
        authorities: String? = nil,
        login: SMTPLogin? = Self.login
    ) throws -> SMTPProvider {
        try mailProvider(
            host: host,
            port: server.port,
            encryption: encryption,
            authorities: authorities ?? server.certificate,
            login: login
        )
    }

    @Test func `gets a message over STARTTLS with a login, whole and unchanged`() async throws {
        try await MailServer.with(.starttls) { server in
            let text = "Grüße 👋\n.\n..dots\r\n. \nlast line  \n" + String(repeating: "x=é ", count: 200)
            let html = "<p>.\n<a href=\"https://example.com/?c=1&l=2\">Grüße</a></p>\n.\n"
            let message = try mail(subject: "Grüße von Acme", text: text, html: html, senderName: "Acme \"Ö\" Ltd")
            let answer = await (try provider(server, .startTLS)).send(message)
            #expect(answer == ProviderAnswer(.accepted, messageID: "\(sendIDText)@example.com"))

            let taken = try server.messages()
            let mail = try #require(taken.first)
            #expect(taken.count == 1)
            #expect(mail.encrypted)
            #expect(mail.login == MailServer.username)
            #expect(mail.sender == "no-reply@example.com")
            #expect(mail.recipients == ["ann@example.org"])
            #expect(mail.subject == "Grüße von Acme")
            #expect(mail.from == ["Acme \"Ö\" Ltd", "no-reply@example.com"])
            #expect(mail.text.replacing("\r\n", with: "\n") == text.replacing("\r\n", with: "\n"))
            #expect(mail.html.replacing("\r\n", with: "\n") == html)
            #expect(mail.defects == [])
        }
    }

    @Test func `finds the headers that keep copies and answering machines away`() async throws {
        try await MailServer.with(.plain) { server in
            let provider = try mailProvider(port: server.port)
            for _ in 0..<2 {
                let answer = await provider.send(try mail())
                #expect(answer.outcome == .accepted)
            }
            let mails = try server.messages()
            #expect(mails.count == 2)
            for mail in mails {
                #expect(mail.headers.contains(["Message-ID", "<\(sendIDText)@example.com>"]))
                #expect(mail.headers.contains(["Auto-Submitted", "auto-generated"]))
                #expect(mail.headers.contains { $0[0] == "To" && $0[1].contains("ann@example.org") })
                #expect(mail.headers.contains { $0[0] == "Date" && $0[1].hasSuffix(" +0000") })
                #expect(mail.defects == [])
            }
        }
    }

    @Test func `gets a message over TLS from the first byte`() async throws {
        try await MailServer.with(.implicit) { server in
            let answer = await (try provider(server, .implicit, login: nil)).send(try mail())
            #expect(answer.outcome == .accepted)
            #expect(try server.messages().first?.encrypted == true)
        }
    }

    @Test func `that refuses the password is a configuration fault`() async throws {
        try await MailServer.with(.starttls) { server in
            let login = SMTPLogin(username: MailServer.username, password: "wrong")
            let answer = await (try provider(server, .startTLS, login: login)).send(try mail())
            #expect(answer == ProviderAnswer(.misconfigured, errorCode: "authentication_refused"))
            #expect(try server.messages().isEmpty)
        }
    }

    @Test func `that wants a login and gets none is a configuration fault`() async throws {
        try await MailServer.with(.starttls) { server in
            let answer = await (try provider(server, .startTLS, login: nil)).send(try mail())
            #expect(answer == ProviderAnswer(.misconfigured, errorCode: "smtp_530"))
        }
    }

    @Test func `without STARTTLS is a configuration fault`() async throws {
        try await MailServer.with(.plain) { server in
            let answer = await (try provider(server, .startTLS, login: nil)).send(try mail())
            #expect(answer == ProviderAnswer(.misconfigured, errorCode: "starttls_unavailable"))
            #expect(try server.messages().isEmpty)
        }
    }

    @Test func `whose certificate nobody vouches for gets nothing`() async throws {
        try await MailServer.with(.starttls) { server in
            let system = "/etc/ssl/certs/ca-certificates.crt"
            let answer = await (try provider(server, .startTLS, authorities: system)).send(try mail())
            #expect(answer == ProviderAnswer(.notSent, errorCode: "tls_failed"))
            #expect(try server.messages().isEmpty)
        }
    }

    @Test func `whose certificate names another host gets nothing`() async throws {
        try await MailServer.with(.starttls) { server in
            let answer = await (try provider(server, .startTLS, host: "127.0.0.1")).send(try mail())
            #expect(answer == ProviderAnswer(.notSent, errorCode: "tls_failed"))
            #expect(try server.messages().isEmpty)
        }
    }

    @Test func `gets many messages at a time, each once`() async throws {
        try await MailServer.with(.starttls) { server in
            let provider = try provider(server, .startTLS)
            let count = 40
            try await withThrowingTaskGroup(of: ProviderAnswer.self) { group in
                for _ in 0..<count {
                    group.addTask {
                        // Retries when no connection was free, as a worker does.
                        while true {
                            let answer = await provider.send(try mail(within: .seconds(60)))
                            if answer != .busy { return answer }
                        }
                    }
                }
                for try await answer in group { #expect(answer.outcome == .accepted) }
            }
            #expect(try server.messages().count == count)
        }
    }
}
