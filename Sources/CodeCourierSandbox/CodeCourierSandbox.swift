// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Foundation

/// The command `code-courier-sandbox`, which demonstrates and tries workers.
@main
struct CodeCourierSandbox: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "code-courier-sandbox",
        abstract: "Simulates providers, a broker and people, so that a worker can be seen at work.",
        discussion: """
            code-courier sandbox and code-courier demo call it. Nothing is sent to anybody.
            """,
        subcommands: [ServeCommand.self, AttackCommand.self, DemoCommand.self]
    )
}

/// Prints a line on standard output and flushes it, so that a viewer sees each step as it happens.
func printOutput(_ line: String) {
    print(line)
    fflush(nil)
}

/// Prints a line on standard error, for the person at the terminal.
func printError(_ line: String) {
    try? FileHandle.standardError.write(contentsOf: Data("\(line)\n".utf8))
}
