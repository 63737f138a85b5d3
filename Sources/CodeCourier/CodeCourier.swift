// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import CBuild
import KafkaClient

/// The root command, `code-courier`.
@main
struct CodeCourier: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "code-courier",
        abstract: "Delivers one-time verification codes from Kafka to phones.",
        discussion: """
            See it work, with everything it needs started for you:
              make demo

            Set a worker up:
              1. Make the four topics, as docs/deployment.md shows.
              2. POSTGRES_URL_FILE=owner-url code-courier migrate
              3. Make a login for postgres.url: GRANT courier_worker TO my_worker
              4. code-courier run --config courier.yaml

            Try it from a second terminal:
              code-courier events tail --config courier.yaml
              code-courier request send --config courier.yaml --phone +16502530000
              POSTGRES_URL_FILE=verifier-url \\
                code-courier verify --config courier.yaml --verification … --code 123456

            Know what a policy does before it does it:
              code-courier policy check policy.yaml
              code-courier policy diff policy.yaml next.yaml
              code-courier policy explain policy.yaml --phone +16502530000
              code-courier policy simulate next.yaml --config courier.yaml --from 7d

            See what people read, and whether it fits one segment:
              code-courier message preview --all

            Answer "where is my code?" for one request or one number:
              POSTGRES_URL_FILE=operator-url \\
                code-courier show --config courier.yaml +16502530000

            Look at what could not be read, and put it back once it can be:
              code-courier dead-letters list --config courier.yaml
              code-courier dead-letters redrive --config courier.yaml --reason not_json

            See what the toll-fraud brake blocks, and lift a block:
              code-courier brake list --config courier.yaml

            See what the budgets for text messages have left:
              code-courier budget status --config courier.yaml

            See how adaptive routes share messages:
              code-courier routes explain --config courier.yaml

            Rotate keys, and see which ones live verifications need:
              POSTGRES_URL_FILE=operator-url \\
                code-courier keys status --config courier.yaml

            Check whether a running worker makes progress and can do its work:
              code-courier health --config courier.yaml

            See what a fleet did, and what it does now, from its logs:
              code-courier report worker-*.log --output report.html
              tail -F worker.log | code-courier top

            A single value of the file may come from the environment instead:
            kafka.bootstrapServers is KAFKA_BOOTSTRAP_SERVERS. kafka.options, and headers
            and answers of http providers, come from the file only. Where each value is
            from:
              code-courier config show --config courier.yaml

            Each command has examples of its own: code-courier help policy simulate.
            Exit codes: 0 done, 1 the answer is no (a wrong code, no event),
            2 a fault of configuration or servers, 64 a wrong command line; more and
            shell completion in docs/operators.md.
            The pages are in docs: deployment, configuration, http-providers, policy,
            architecture, operators, log-events, scaling, performance, gateways,
            reasons, brake, budgets, routes, verifiers, sandbox, guarantees, threats,
            standards, compatibility.
            """,
        version: "\(Version.text), librdkafka \(librdkafkaVersion)",
        subcommands: [
            RunCommand.self, MigrateCommand.self, RequestCommand.self, VerifyCommand.self, EventsCommand.self,
            DemoCommand.self, SandboxCommand.self, PolicyCommand.self, MessageCommand.self,
            DeadLettersCommand.self, HealthCommand.self, ReportCommand.self, TopCommand.self, LogEventsCommand.self,
            SettingsCommand.self, ShowCommand.self, EraseCommand.self, BrakeCommand.self,
            BudgetCommand.self, RoutesCommand.self,
            KeysCommand.self, ConfigCommand.self,
        ]
    )
}

/// The program's version.
enum Version {
    static let number = "0.1.0"

    /// The number and the commit of the build, such as `0.1.0 (3f2c1ab)`.
    static var text: String {
        let commit = String(cString: code_courier_commit())
        return "\(number) (\(commit.isEmpty ? "development build" : commit))"
    }
}
