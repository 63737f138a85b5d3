// SPDX-License-Identifier: Apache-2.0

import ArgumentParser

struct PolicyCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "policy",
        abstract: "Checks a policy, explains its decisions and replays the past against it.",
        subcommands: [PolicyCheckCommand.self, PolicyExplainCommand.self, PolicySimulateCommand.self]
    )
}
