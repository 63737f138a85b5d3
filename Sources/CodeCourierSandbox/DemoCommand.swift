// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import PostgresClient
import UnixSignals

struct DemoCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "demo",
        abstract: "Shows a worker at work: an embedded broker, simulated providers and a few requests.",
        discussion: """
            `make demo` starts the database and calls this. Nothing is sent to anybody:
            messages arrive on the phones of a web page. Ctrl-C ends it. A database that
            holds requests is refused.

              make demo
              code-courier demo --postgres-url postgresql://me@127.0.0.1/empty --once
            """
    )

    @Option(help: "An empty database as a libpq URI; its password in PGPASSWORD.")
    var postgresURL: String

    @Flag(help: "End after the first requests and print one JSON line.")
    var once = false

    @Option(help: "The port of the inbox page; another free one when it is taken.")
    var port = 8025

    func validate() throws {
        guard (0...65_535).contains(port) else { throw ValidationError("--port must be a number from 0 to 65535") }
        // `code-courier demo` has already moved a password; in this argument `ps` would show it during the whole
        // demonstration.
        if let keywords = try? ConnectionKeywords.parse(postgresURL), keywords["password"] != nil {
            throw ValidationError("--postgres-url must have no password in it; put it into PGPASSWORD")
        }
    }

    func run() async throws {
        let signals = await UnixSignalsSequence(trapping: .sigint, .sigterm, .sighup)
        let stage = try await DemoStage(postgresURL: postgresURL, port: port)
        let result = try await stage.perform(staying: !once, until: signals)
        // Ctrl-C is the normal end of a demonstration that keeps running, so it is no failure at any time.
        guard let result else { return once ? try end(DemoResult()) : () }
        try end(result)
    }

    private func end(_ result: DemoResult) throws {
        if once { printOutput(result.json) }
        guard result.isExpected else { throw ExitCode(1) }
    }
}
