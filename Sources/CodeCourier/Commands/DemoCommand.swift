// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Foundation

/// Demonstrates a worker: a command of `code-courier-sandbox`.
struct DemoCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "demo",
        abstract: "Shows a worker at work: an embedded broker, simulated providers and a few requests.",
        discussion: """
            Runs code-courier-sandbox demo, which is built into the same folder as this
            program and is in no worker image. `make demo` starts a database and calls it.

              make demo
              code-courier demo --help
            """
    )

    @Argument(parsing: .captureForPassthrough, help: "The options of code-courier-sandbox demo; --help shows them.")
    var arguments: [String] = []

    func run() throws {
        try SandboxProgram.take(over: ["demo"] + arguments)
    }
}

/// Runs simulated providers: a command of `code-courier-sandbox`.
struct SandboxCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "sandbox",
        abstract: "Runs simulated providers, whose messages arrive on the phones of a web page.",
        discussion: """
            Runs code-courier-sandbox, which is built into the same folder as this program
            and is in no worker image. attack requests codes that nobody types in.

              code-courier sandbox --port 8025 --smtp-port 2525
              code-courier sandbox attack --kind prefix --rate 10
              code-courier sandbox --help
            """
    )

    @Argument(parsing: .captureForPassthrough, help: "The options of code-courier-sandbox serve; --help shows them.")
    var arguments: [String] = []

    func run() throws {
        try SandboxProgram.take(over: arguments.first == "attack" ? arguments : ["serve"] + arguments)
    }
}

/// The program `code-courier-sandbox`, kept apart so that a worker's program has no code for trials.
private enum SandboxProgram {
    /// Replaces this process by the sandbox program; throws where that is not installed.
    static func take(over arguments: [String]) throws {
        if let own = OwnProcess.program {
            let path = URL(filePath: own).deletingLastPathComponent().appending(path: "code-courier-sandbox").path
            OwnProcess.replace(by: path, [path] + arguments)
        }
        throw StartFailure.report([
            "the program code-courier-sandbox, which has this command, is not beside this one; make demo builds both"
        ])
    }
}
