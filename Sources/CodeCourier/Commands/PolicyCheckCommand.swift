// SPDX-License-Identifier: Apache-2.0

import Administration
import ArgumentParser
import Formats
import Logs
import SettingsReading
import Verification

struct PolicyCheckCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "check",
        abstract: "Names every fault of a policy file with its line, or sums the policy up.",
        discussion: """
            Exit code 0 when a worker would take the policy, 2 when it would refuse it.
            With --config the routes must lead to providers that the configuration has, and
            these must have all settings but secrets: code-courier run --check reads those
            and the other sections. schemas/policy.schema.json lets an editor complete the
            keys.

              code-courier policy check policy.yaml
              code-courier policy check policy.yaml --config courier.yaml

            With --leased the database says what workers have leased of each budget, and
            by how much a budget with a lower amount may be exceeded. The login needs the
            role courier_operator.

              code-courier policy check next.yaml --config courier.yaml --leased

            With --approvals it says how many codes each tenant's verifier has approved in
            the last day, without which a brake in enforce only records.

            Next: code-courier policy explain, code-courier policy simulate.
            """
    )

    @Argument(help: ArgumentHelp("The policy file.", valueName: "policy.yaml"))
    var file: String

    @OptionGroup var database: LeasedMoneyOptions

    @Flag(help: "Read from the database how many codes were approved in a day.")
    var approvals = false

    func run() async throws {
        let options = database.database.options
        let source = ConfigurationSource(path: options.config, environment: options.environment)
        let settings = PolicySettings.read(source)
        // An entry with an unknown key is left out of the providers, so routes to it would look wrong.
        let areProvidersKnown = source.faults.isEmpty
        if settings.providers != nil { source.checkProviders() }
        let reading = PolicyFile.load(path: file, providers: areProvidersKnown ? settings.providers : nil)
        // The faults of both files at once.
        guard case .success(let policy) = reading, source.faults.isEmpty else {
            throw StartFailure.report(source.faults.result(settings).faults + reading.faults)
        }
        let leased = try await database.leased(of: policy)
        let days = approvals ? try await daysOfTenants(of: policy) : nil
        printOutput(PolicySummary(policy: policy, now: .now, leased: leased, days: days).lines(file: file))
    }

    /// The usual conversions of each tenant with text messages in the last 14 days.
    private func daysOfTenants(of policy: Policy) async throws -> [String: ConversionHistory] {
        try await database.database.withBrake { desk in
            let now = Timestamp.now
            let hours = try await desk.hours(from: now - ConversionHistory.span, to: now, tenant: nil)
            return Dictionary(
                uniqueKeysWithValues: hours.byTenant.map { name, counts in
                    let brake = policy.tenants[name]?.brake
                    return (name, ConversionHistory(counts, at: now) { brake?.judges($0) ?? true })
                }
            )
        }
    }
}

/// The option to read from the database the money leased from a policy's budgets.
struct LeasedMoneyOptions: ParsableArguments {
    @OptionGroup var database: OperatorDatabaseOptions

    @Flag(help: "Read from the database what is leased of the budgets.")
    var leased = false

    func leased(of policy: Policy) async throws -> [LeasedBudget]? {
        guard leased else { return nil }
        return try await database.withBudgets { try await $0.leased(of: policy) }
    }
}

extension Result where Failure == ConfigurationFaults {
    fileprivate var faults: [ConfigurationFault] { if case .failure(let failure) = self { failure.faults } else { [] } }
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
