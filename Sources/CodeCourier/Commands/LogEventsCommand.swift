// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Logs

struct LogEventsCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "log-events",
        abstract: "Prints every event and field of the log.",
        discussion: """
            docs/log-events.md and schemas/log-events.json are written by it:
              code-courier log-events --page > docs/log-events.md
              code-courier log-events > schemas/log-events.json
            """,
        shouldDisplay: false
    )

    @Flag(help: "As a page for people instead of JSON.") var page = false

    func run() {
        print(page ? LogCatalogue.page : LogCatalogue.json, terminator: "")
    }
}
