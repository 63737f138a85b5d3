// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Sandbox
import UnixSignals

struct ServeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "serve",
        abstract: "Runs simulated providers: Twilio, Vonage, Amazon SNS, Apple, any HTTP gateway, a mail server.",
        discussion: """
            What a worker hands to them arrives on the phones of a web page. Nothing is sent
            to anybody. Ctrl-C ends it.

              code-courier sandbox
              code-courier sandbox --port 9000 --smtp-port 9025 --callbacks

            A provider of courier.yaml that sends there:

              - { name: sandbox, kind: twilio, baseURL: "http://127.0.0.1:8025",
                  accountSid: AC1, authToken: any, from: "+15005550006" }

            docs/sandbox.md has the other kinds, test numbers with fixed outcomes, and the
            API for tests. Its page shows every code: another --host than this machine shows
            them to whoever connects.
            """
    )

    @Option(help: "The address to listen on.")
    var host = "127.0.0.1"

    @Option(help: "The port of the page and of the HTTP APIs; 0: any free one.")
    var port = 8025

    @Option(help: "The port of the mail server; 0: any free one.")
    var smtpPort = 2525

    @Flag(help: "Post receipts to the address that a message names for them.")
    var callbacks = false

    @Option(help: "Sign posted receipts with this secret, as Twilio and Vonage do.")
    var signatureSecret: String?

    func validate() throws {
        guard (0...65_535).contains(port), (0...65_535).contains(smtpPort) else {
            throw ValidationError("a port must be a number from 0 to 65535")
        }
        if let signatureSecret {
            guard callbacks else { throw ValidationError("--signature-secret signs receipts: add --callbacks") }
            guard !signatureSecret.isEmpty else { throw ValidationError("--signature-secret must not be empty") }
        }
    }

    func run() async throws {
        let sandbox = Sandbox(
            configuration: SandboxConfiguration(
                host: host,
                port: port,
                smtpPort: smtpPort,
                hasTestRecipients: true,
                postsReceipts: callbacks,
                signatureSecret: signatureSecret
            )
        )
        let signals = await UnixSignalsSequence(trapping: .sigint, .sigterm, .sighup)
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await sandbox.run() }
            group.addTask {
                for await _ in signals { break }
            }
            let (page, mail) = try await addresses(of: sandbox)
            printOutput("page and HTTP APIs: http://\(page.host):\(page.port)")
            printOutput("mail server: \(mail.host):\(mail.port)")
            try await group.next()
            group.cancelAll()
        }
    }

    /// The addresses of the page and the mail server, once they are bound.
    private func addresses(of sandbox: Sandbox) async throws -> (page: Address, mail: Address) {
        do {
            return (try await sandbox.waitUntilListening(), try await sandbox.waitUntilListeningForMail())
        } catch {
            let place = "\(host), ports \(port) and \(smtpPort)"
            let advice = "choose others by --host, --port and --smtp-port"
            printError(
                "code-courier-sandbox: cannot listen on \(place): \(SandboxError.explanation(of: error)); \(advice)"
            )
            throw ExitCode(1)
        }
    }

    private typealias Address = (host: String, port: Int)
}
