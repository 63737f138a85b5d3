// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Formats
import Logs
import Verification

struct PolicyCheckCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "check",
        abstract: "Names every fault of a policy file with its line, or sums the policy up.",
        discussion: """
            Exit code 0 when a worker would take the policy, 2 when it would refuse it.
            With --config it is also checked that the routes lead to providers that the
            configuration has. schemas/policy.schema.json lets an editor complete the keys.

              code-courier policy check policy.yaml
              code-courier policy check policy.yaml --config courier.yaml

            Next: code-courier policy explain, code-courier policy simulate.
            """
    )

    @Argument(help: ArgumentHelp("The policy file.", valueName: "policy.yaml"))
    var file: String

    @OptionGroup var options: ConfigurationOptions

    func run() async throws {
        let settings = try StartFailure.unwrap(
            PolicySettings.load(path: options.config, environment: options.environment)
        )
        let policy = try StartFailure.unwrap(PolicyFile.load(path: file, providers: settings.providers))
        printOutput(PolicySummary(policy: policy, now: .now).lines(file: file))
    }
}

struct PolicyCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "policy",
        abstract: "Checks a policy, explains its decisions and replays the past against it.",
        subcommands: [
            PolicyCheckCommand.self, PolicyDiffCommand.self, PolicyExplainCommand.self, PolicySimulateCommand.self,
        ]
    )
}
