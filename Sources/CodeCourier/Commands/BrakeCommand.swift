// SPDX-License-Identifier: Apache-2.0

import Administration
import ArgumentParser
import Formats
import SettingsReading
import Verification

/// Shows the toll-fraud brake's blocks, and overrides them.
struct BrakeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "brake",
        abstract: "Shows what the toll-fraud brake blocks, and overrides it.",
        discussion: """
            Somebody who requests codes and never types them in is often paid by a carrier
            for each message. The brake compares the approvals of an IP address, a number's
            prefix (all but the last four digits), its range (six) and its region with
            those that are usual, and blocks a scope that lacks too many: docs/brake.md.

              code-courier brake list --config courier.yaml
              code-courier brake explain --config courier.yaml --phone - --ip 192.0.2.1
              code-courier brake lift --config courier.yaml --scope prefix --key 9f86d081
              code-courier brake allow --config courier.yaml --ip 192.0.2.1 --for 30d \\
                --reason "our testers"
              code-courier brake launch BR --config courier.yaml --for 48h --reason "TV"
              code-courier brake replay --config courier.yaml --since 7d --enforce

            The login needs the role courier_operator and no other. Workers follow an
            order within seconds. It is done in one database: with several cells, run it
            once for each.
            """,
        subcommands: [
            BrakeListCommand.self, BrakeExplainCommand.self, BrakeLiftCommand.self, BrakeAllowCommand.self,
            BrakeBlockCommand.self, BrakeLaunchCommand.self, BrakeReplayCommand.self,
        ]
    )
}

extension OperatorDatabaseOptions {
    /// Reads the given policy, or the configuration's.
    func loadPolicy(_ policy: String?) throws -> Policy {
        let settings = try StartFailure.unwrap(
            PolicySettings.load(path: options.config, environment: options.environment)
        )
        guard let path = policy ?? settings.policyPath else {
            throw StartFailure.report(["policy.path: is required; add it, or give --policy policy.yaml"])
        }
        return try StartFailure.unwrap(PolicyFile.load(path: path, providers: settings.providers))
    }

    /// Runs a body with the brake's tables.
    func withBrake<Value>(_ body: (BrakeDesk) async throws -> Value) async throws -> Value {
        try await withPool(for: "brake") { try await body(BrakeDesk(pool: $0)) }
    }
}

struct BrakeListCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "Lists blocks, those that ended within an hour too, and orders.",
        discussion: """
            A key is the first 8 hex digits of a keyed hash: it names a prefix, a range or
            an address to other brake commands and shows none. The columns expected and
            observed are the approvals of an hour when the block began.

              code-courier brake list --config courier.yaml
              code-courier brake list --config courier.yaml --tenant shop --json

            Next: code-courier brake explain.
            """
    )

    @OptionGroup var database: OperatorDatabaseOptions

    @Option(help: "Only this tenant's; default: all tenants'.")
    var tenant: String?

    @Flag(help: "Print JSON.")
    var json = false

    func run() async throws {
        let state = try await database.withBrake { try await $0.state(tenant: tenant) }
        let output = BrakeListOutput(state: state)
        if json { printOutput(output.json) } else { printOutput(output.lines) }
    }
}

/// A span of time such as `90m`, `48h` or `30d`.
struct SpanArgument: ExpressibleByArgument {
    let duration: Duration

    init?(argument: String) {
        guard case .ago(let duration)? = TimeArgument(argument: argument) else { return nil }
        guard duration > .zero, duration <= DurationText.longest else { return nil }
        self.duration = duration
    }
}

extension BrakeOverride.Scope: ExpressibleByArgument {}
