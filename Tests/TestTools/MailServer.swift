// SPDX-License-Identifier: Apache-2.0

import Foundation

/// A real mail server, Debian's aiosmtpd, in its own process.
///
/// It stores the messages and parses them as a mail program does.
package final class MailServer: Sendable {
    package enum Mode: String, Sendable, CaseIterable {
        case starttls
        case implicit
        case plain

        /// Plain, with SMTPUTF8.
        case utf8
    }

    /// A message as the server received it, parsed by Python's own mail parser.
    package struct Message: Decodable, Sendable {
        package let sender: String
        package let recipients: [String]
        package let login: String?
        package let encrypted: Bool
        package let headers: [[String]]
        package let subject: String
        package let from: [String]
        package let text: String
        package let html: String
        package let defects: [String]
        package let raw: String
    }

    package static let username = "courier"
    package static let password = "pw-3n-s3cr3t"

    package let port: Int
    package let certificate: String
    private let process: Process
    private let folder: URL
    private let output: URL

    private init(mode: Mode) async throws {
        folder = FileManager.default.temporaryDirectory.appending(path: "mail-\(UUID().uuidString)")
        output = folder.appending(path: "out")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let certificate = folder.appending(path: "certificate.pem")
        let key = folder.appending(path: "key.pem")
        try Data(SelfSigned.certificate.utf8).write(to: certificate)
        try Data(SelfSigned.privateKey.utf8).write(to: key)
        try Data().write(to: output)
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/python3")
        process.arguments = ["-c", Self.program, mode.rawValue, certificate.path, key.path]
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = try FileHandle(forWritingTo: output)
        try process.run()
        self.process = process
        self.certificate = certificate.path
        let output = output
        try await eventually("the mail server starts") { !Self.lines(of: output).isEmpty }
        port = Self.lines(of: output).first.flatMap { Int($0) } ?? 0
    }

    deinit {
        // SIGKILL, because a child process inherits this thread's blocked signals, SIGTERM among them.
        if process.isRunning { kill(process.processIdentifier, SIGKILL) }
        try? FileManager.default.removeItem(at: folder)
    }

    package static func with(_ mode: Mode, body: (MailServer) async throws -> Void) async throws {
        let server = try await MailServer(mode: mode)
        try await body(server)
        withExtendedLifetime(server) {}
    }

    package func messages() throws -> [Message] {
        try Self.lines(of: output).dropFirst().map { try JSONDecoder().decode(Message.self, from: Data($0.utf8)) }
    }

    private static func lines(of file: URL) -> [String] {
        let text = (try? String(contentsOf: file, encoding: .utf8)) ?? ""
        return text.split(separator: "\n", omittingEmptySubsequences: false).dropLast().map(String.init)
    }

    private static let program = """
        import asyncio, email, email.policy, json, ssl, sys
        from aiosmtpd.smtp import SMTP, AuthResult, LoginPassword

        mode, certificate, key = sys.argv[1:]
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate, key)

        def authenticate(server, session, envelope, mechanism, data):
            good = isinstance(data, LoginPassword) and data == LoginPassword(b"\(username)", b"\(password)")
            return AuthResult(success=good, handled=False, auth_data=data.login.decode() if good else None)

        class Handler:
            async def handle_DATA(self, server, session, envelope):
                message = email.message_from_bytes(envelope.content, policy=email.policy.SMTP)
                address = message["From"].addresses[0]
                parts = list(message.iter_parts())
                print(json.dumps({
                    "sender": envelope.mail_from, "recipients": envelope.rcpt_tos, "login": session.auth_data,
                    "encrypted": session.ssl is not None or mode == "implicit",
                    "headers": [[name, str(value)] for name, value in message.items()],
                    "subject": str(message["Subject"]), "from": [address.display_name, address.addr_spec],
                    "text": parts[0].get_content(), "html": parts[1].get_content(),
                    "defects": [repr(d) for part in message.walk() for d in part.defects]
                        + [repr(d) for value in message.values() for d in getattr(value, "defects", [])],
                    "raw": envelope.content.decode("utf-8"),
                }), flush=True)
                return "250 taken"

        def session():
            if mode == "starttls":
                return SMTP(Handler(), tls_context=context, require_starttls=True, auth_required=True,
                            authenticator=authenticate)
            return SMTP(Handler(), authenticator=authenticate, auth_require_tls=False, enable_SMTPUTF8=mode == "utf8")

        async def serve():
            server = await asyncio.get_running_loop().create_server(
                session, "127.0.0.1", 0, ssl=context if mode == "implicit" else None)
            print(server.sockets[0].getsockname()[1], flush=True)
            await server.serve_forever()

        asyncio.run(serve())
        """
}
