// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestTools

@testable import Sandbox

/// An SMTP client that sends one line and reads one reply at a time.
struct MailClient {
    let connection: RawConnection

    /// Connects and reads the greeting.
    init(_ sandbox: Sandbox) async throws {
        connection = try RawConnection(to: try await sandbox.waitUntilListeningForMail().port)
        _ = await reply()
    }

    /// The next complete reply; empty when the server has closed the connection.
    func reply() async -> String {
        await connection.read { text in
            text.hasSuffix("\r\n") && text.split(separator: "\r\n").contains { $0.dropFirst(3).first == " " }
        }.text
    }

    func say(_ line: String) async throws -> String {
        try connection.send(line + "\r\n")
        return await reply()
    }

    /// Sends a mail, and returns the last reply.
    @discardableResult
    func send(_ mail: String, from sender: String = "code@acme.example", to recipients: [String]) async throws -> String
    {
        _ = try await say("EHLO test.example")
        _ = try await say("MAIL FROM:<\(sender)>")
        for recipient in recipients {
            let reply = try await say("RCPT TO:<\(recipient)>")
            if !reply.hasPrefix("250") { return reply }
        }
        let reply = try await say("DATA")
        guard reply.hasPrefix("354") else { return reply }
        return try await say(mail.replacingOccurrences(of: "\n", with: "\r\n") + "\r\n.")
    }

    /// A mail with a code and a link, in text and HTML.
    static func mail(subject: String = "Sign in to Acme", token: String = "abc123456def") -> String {
        """
        From: =?utf-8?Q?Acm=C3=A9?= <code@acme.example>
        To: person@example.com
        Subject: \(subject)
        Message-ID: <0191b6a0-send@acme.example>
        MIME-Version: 1.0
        Content-Type: multipart/alternative; boundary="b=1"

        --b=1
        Content-Type: text/plain; charset=utf-8
        Content-Transfer-Encoding: quoted-printable

        Your code is 482913=2E Or go to
        https://acme.example/in?t=3D\(token)&x=3D1=
        2 to sign in.
        --b=1
        Content-Type: text/html; charset=utf-8
        Content-Transfer-Encoding: base64

        \(Data(html(token).utf8).base64EncodedString())
        --b=1--
        """
    }

    private static func html(_ token: String) -> String {
        """
        <!doctype html><html><head><title>111111</title><style>body{font:16px sans-serif;padding:24px} a{background:#0a66e8;\
        color:#fff;padding:12px 20px;border-radius:8px;text-decoration:none}</style></head><body><h1>Hello</h1>\
        <p>Your code is <b>482913</b>.</p><p><a href="https://acme.example/in?t=\(token)&amp;x=12">Sign in</a></p>\
        <script>document.title='owned';parent.document.title='owned'</script><img src="http://127.0.0.1:9/x.png"></body></html>
        """
    }
}
