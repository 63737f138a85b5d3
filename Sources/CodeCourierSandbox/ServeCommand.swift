// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Sandbox
import UnixSignals

struct ServeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "serve",
        abstract: "Runs pretended providers: Twilio, Vonage, Apple, a generic gateway and a mail server.",
        discussion: """
            What a worker hands to them arrives on the phones of a web page. Ctrl-C ends it.

              code-courier sandbox --port 8025 --smtp-port 2525

            A provider of courier.yaml that sends there:

              - { name: sandbox, kind: twilio, baseURL: "http://127.0.0.1:8025",
                  accountSid: AC1, authToken: any, from: "+15005550006" }

            It listens on this machine alone: its page shows every code.
            """
    )

    @Option(help: "The port of the page and of the HTTP APIs; 0: any free one.")
    var port = 8025

    @Option(help: "The port of the mail server; 0: any free one.")
    var smtpPort = 0

    func validate() throws {
        guard (0...65_535).contains(port), (0...65_535).contains(smtpPort) else {
            throw ValidationError("a port must be a number from 0 to 65535")
        }
    }

    func run() async throws {
        let sandbox = Sandbox(configuration: SandboxConfiguration(port: port, smtpPort: smtpPort))
        let signals = await UnixSignalsSequence(trapping: .sigint, .sigterm, .sighup)
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                do {
                    try await sandbox.run()
                } catch {
                    printError("code-courier-sandbox: cannot listen on the ports \(port) and \(smtpPort): \(error)")
                    throw ExitCode(1)
                }
            }
            group.addTask {
                for await _ in signals { break }
            }
            let page = try await sandbox.waitUntilListening()
            let mail = try await sandbox.waitUntilListeningForMail()
            printOutput("page and HTTP APIs: http://\(page.host):\(page.port)")
            printOutput("mail server: \(mail.host):\(mail.port)")
            try await group.next()
            group.cancelAll()
        }
    }
}
