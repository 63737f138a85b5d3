// SPDX-License-Identifier: Apache-2.0

import SMTPClient
import Synchronization
import TestTools
import Testing

@Suite(.timeLimit(.minutes(2))) struct `A delivery by libcurl` {
    /// Stores the results that a delivery reports.
    private final class Listener: SMTPListener {
        let results = Mutex<[SMTPResult]>([])
        let mayBeCompleted: Bool

        init(mayBeCompleted: Bool = true) { self.mayBeCompleted = mayBeCompleted }

        var isWanted: Bool { true }
        func mayComplete() -> Bool { mayBeCompleted }
        func settled(_ result: SMTPResult) { results.withLock { $0.append(result) } }
    }

    private static func encryption(_ mode: MailServer.Mode) -> SMTPServer.Encryption {
        switch mode {
        case .starttls: .startTLS
        case .implicit: .implicit
        case .plain, .utf8: .none
        }
    }

    /// A message in two parts, with a line that begins with a dot.
    private static func content(lines: Int) -> [UInt8] {
        let text = (0..<lines).map { ".line \($0)\r\n" }.joined()
        return Array(
            """
            From: A <a@example.com>\r
            Subject: of \(lines) lines\r
            MIME-Version: 1.0\r
            Content-Type: multipart/alternative; boundary=b\r
            \r
            --b\r
            Content-Type: text/plain\r
            \r
            \(text)\r
            --b\r
            Content-Type: text/html\r
            \r
            <p>html</p>\r
            --b--\r

            """.utf8
        )
    }

    private static func server(_ server: MailServer, _ mode: MailServer.Mode) -> SMTPServer {
        SMTPServer(
            host: "localhost",
            port: server.port,
            encryption: encryption(mode),
            authorities: server.certificate,
            heloName: "worker.example.com",
            login: mode == .starttls ? SMTPLogin(username: MailServer.username, password: MailServer.password) : nil
        )
    }

    @Test(arguments: MailServer.Mode.allCases)
    func `takes a message of any size to the server, whole`(mode: MailServer.Mode) async throws {
        try await MailServer.with(mode) { server in
            for lines in [0, 1, 20_000] {
                let listener = Listener()
                let envelope = SMTPEnvelope(
                    sender: "a@example.com",
                    recipient: "b@example.com",
                    content: Self.content(lines: lines)
                )
                Self.server(server, mode).deliver(envelope, within: .seconds(60), listener: listener)
                let results = listener.results.withLock(\.self)
                #expect(results.first?.reply == 250)
                let areComplete = results.allSatisfy(\.isComplete)
                #expect(areComplete)
                let message = try #require(try server.messages().last)
                let count = message.text.split(whereSeparator: \.isNewline).count
                #expect(count == lines)
                #expect(lines == 0 || message.text.hasPrefix(".line 0"))
            }
        }
    }

    @Test func `that may not be completed leaves no message at the server`() async throws {
        try await MailServer.with(.plain) { server in
            let listener = Listener(mayBeCompleted: false)
            let envelope = SMTPEnvelope(
                sender: "a@example.com",
                recipient: "b@example.com",
                content: Self.content(lines: 1)
            )
            Self.server(server, .plain).deliver(envelope, within: .seconds(60), listener: listener)
            let hasFailed = listener.results.withLock(\.self).contains { !$0.isComplete && $0.failure != nil }
            #expect(hasFailed)
            let messages = try server.messages()
            #expect(messages.isEmpty)
        }
    }

    @Test func `to nobody is told as refused, again and again`() {
        let server = SMTPServer(host: "127.0.0.1", port: 1, encryption: .none, heloName: "worker.example.com")
        for _ in 0..<20 {
            let listener = Listener()
            let envelope = SMTPEnvelope(sender: "a@example.com", recipient: "b@example.com", content: [0x61])
            server.deliver(envelope, within: .seconds(60), listener: listener)
            let failures = listener.results.withLock { $0.map(\.failure) }
            #expect(failures == [.connectionRefused])
        }
    }
}
