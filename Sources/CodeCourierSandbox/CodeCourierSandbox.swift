// SPDX-License-Identifier: Apache-2.0

import ArgumentParser

/// The command `code-courier-sandbox`, which demonstrates and tries workers.
@main
struct CodeCourierSandbox: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "code-courier-sandbox",
        abstract: "Pretends to be providers, a broker and people, so that a worker can be seen at work.",
        discussion: """
            code-courier sandbox and code-courier demo call it. Nothing is sent to anybody.
            """,
        subcommands: [ServeCommand.self, DemoCommand.self]
    )
}
