// SPDX-License-Identifier: Apache-2.0

import ArgumentParser

struct MessageCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "message",
        abstract: "Shows the messages that people get.",
        subcommands: [MessagePreviewCommand.self]
    )
}
