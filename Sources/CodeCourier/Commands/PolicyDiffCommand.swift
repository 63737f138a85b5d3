// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Verification

struct PolicyDiffCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "diff",
        abstract: "Shows what a new policy changes, for which tenants, regions and limits.",
        discussion: """
            Both policies are read as a worker would read them; another wording that
            decides the same is no change. With --leased the database says by how much
            a budget with a lower amount may be exceeded; else it is not read.

              code-courier policy diff policy.yaml next.yaml
              code-courier policy diff policy.yaml next.yaml --json
              code-courier policy diff policy.yaml next.yaml --config courier.yaml \\
                --leased

            Exit code 0 when nothing changes, 1 when something does, 2 when a policy has a
            fault. Next: code-courier policy simulate, which counts the people concerned.
            """
    )

    @Argument(help: ArgumentHelp("The policy in force.", valueName: "policy.yaml"))
    var old: String

    @Argument(help: ArgumentHelp("The new policy.", valueName: "next.yaml"))
    var new: String

    @OptionGroup var database: LeasedMoneyOptions

    @Flag(help: "Print JSON.")
    var json = false

    func run() async throws {
        let options = database.database.options
        let settings = try StartFailure.unwrap(
            PolicySettings.load(path: options.config, environment: options.environment)
        )
        let candidate = try StartFailure.unwrap(PolicyFile.load(path: new, providers: settings.providers))
        let diff = PolicyDiff(
            old: try StartFailure.unwrap(PolicyFile.load(path: old)),
            new: candidate,
            leased: try await database.leased(of: candidate) ?? []
        )
        if json { printOutput(diff.json) } else { printOutput(diff.lines(files: (old, new))) }
        if !diff.changes.isEmpty { throw ExitCode(1) }
    }
}
