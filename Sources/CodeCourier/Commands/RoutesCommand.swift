// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Formats
import Ledger
import PostgresClient
import SettingsReading
import Verification

/// Shows adaptive routes: the shares in force, and those that another policy or time would have had.
struct RoutesCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "routes",
        abstract: "Shows how adaptive routes share messages, and why.",
        discussion: """
            An adaptive route of the policy gives each provider a share of a region's text
            messages, by the codes that people approve and the price: docs/routes.md.

              code-courier routes explain --config courier.yaml --region DE
              code-courier routes replay --config courier.yaml --from 7d

            The login needs the role courier_operator and no other. With several cells,
            each has its own shares.
            """,
        subcommands: [RoutesExplainCommand.self, RoutesReplayCommand.self]
    )
}

/// The routes to show, and the form of the output.
struct RouteChoice: ParsableArguments {
    @Option(help: "Only this tenant's; default: all tenants'.")
    var tenant: String?

    @Option(help: "Only this region's, such as DE.")
    var region: String?

    @Option(help: ArgumentHelp("The policy; default: the configuration's.", valueName: "policy.yaml"))
    var policy: String?

    @Flag(help: "Print JSON.")
    var json = false
}

struct RoutesExplainCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "explain",
        abstract: "Shows the shares in force with their reasons.",
        discussion: """
            One line for each region and provider: its share of the messages, the codes
            that are approved after its first messages with the error of that estimate,
            the messages it rests on (an older one counts less), the price, and the reason.
            The region * stands for all without messages of their own.

              code-courier routes explain --config courier.yaml --region DE
              code-courier routes explain --config courier.yaml --json

            Next: code-courier routes replay.
            """
    )

    @OptionGroup var database: OperatorDatabaseOptions

    @OptionGroup var choice: RouteChoice

    func run() async throws {
        let policy = try database.loadPolicy(choice.policy)
        let shares = try await database.withPool(for: "routes") { pool in
            try await pool.withSession { session in
                try RouteShares(try session.execute(PostgresLedger.readShares))
            }
        }
        let output = RouteShareOutput(shares: shares, policy: policy, tenant: choice.tenant, region: choice.region)
        if choice.json { printOutput(output.json) } else { printOutput(output.lines) }
    }
}

struct RoutesReplayCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "replay",
        abstract: "Shows what the policy's adaptive routes would have shared.",
        discussion: """
            For each hour the shares that the policy's adaptive routes would have had, by
            what was known before that hour, beside what was sent. Try a policy before it
            is in force: give a provider a share, and see what it would have got. Silences
            are left out: hours are too long for them. Read up to 35 days.

              code-courier routes replay --config courier.yaml --from 7d
              code-courier routes replay --config courier.yaml --policy next.yaml \\
                --from 14d --region DE
            """
    )

    @OptionGroup var database: OperatorDatabaseOptions

    @Option(help: ArgumentHelp("How far back, such as 24h or 7d.", valueName: "span"))
    var from: SpanArgument

    @OptionGroup var choice: RouteChoice

    func run() async throws {
        let policy = try database.loadPolicy(choice.policy)
        let start = (Timestamp.now - from.duration).hour
        let counts = try await database.withPool(for: "routes") { pool in
            try await pool.withSession { session in
                let statement = PostgresLedger.readRouteHours(since: start - RouteEvidence.span)
                return try ConversionCounts(firsts: try session.execute(statement))
            }
        }
        let replay = RouteReplay(counts, policy: policy, since: start, tenant: choice.tenant, region: choice.region)
        if choice.json { printOutput(replay.json) } else { printOutput(replay.lines) }
    }
}
