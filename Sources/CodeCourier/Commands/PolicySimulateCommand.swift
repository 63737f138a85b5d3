// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Formats
import KafkaClient
import Logs
import PhoneNumbers
import UnixSignals
import Verification

/// Replays past requests by a candidate policy.
struct PolicySimulateCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "simulate",
        abstract: "Replays past requests against a candidate policy and shows who would be decided otherwise.",
        discussion: """
            It reads the request topic without a group, changes nothing and sends nothing;
            the database is not read. Both policies are replayed from empty state with the
            records' own times, so resend windows and limits work as they would have. No
            code counts as entered. Numbers are never printed.

              code-courier policy simulate next.yaml --config courier.yaml --from 7d
            """
    )

    @Argument(help: ArgumentHelp("The candidate policy.", valueName: "policy.yaml"))
    var file: String

    @Option(help: ArgumentHelp("The policy to compare with; default: policy.path.", valueName: "current.yaml"))
    var against: String?

    @OptionGroup var kafka: KafkaOptions

    @Option(help: "Where the range begins: beginning, a span before now such as 7d or 12h, or a time.")
    var from = TimeArgument.ago(.seconds(86_400))

    @Option(help: "Where the range ends: now, a span before now, or a time.")
    var to = TimeArgument.now

    @Flag(help: "Print JSON.")
    var json = false

    func run() async throws {
        let kafka = try kafka.settings()
        let policies = try loadPolicies()
        let now = Timestamp.now
        let start = from.time(before: now)
        guard let end = to.time(before: now), start.map({ $0 < end }) ?? true else {
            throw StartFailure.report(["--from must be before --to"])
        }
        let replay = PolicyReplay(
            policies: policies.both.map(\.policy),
            numbers: PhoneNumberDirectory(),
            maxRequestAge: policies.settings.maxRequestAge,
            start: start,
            latest: now
        )
        let report: ReplayReport
        do {
            let topic = try await TopicReplay.open(
                configuration: kafka.client,
                topic: kafka.topics.requests,
                start: start,
                end: end < now ? end : nil,
                latest: now
            )
            report = try await run(replay, over: topic)
        } catch let error as KafkaError {
            throw StartFailure.report([KafkaFault(error)])
        }
        if json {
            printOutput(report.json(versions: policies.both.map(\.policy.version)))
        } else {
            printOutput(report.text(policies: policies.both.map { "\($0.file), version \($0.policy.version)" }))
        }
        if report.isInterrupted { throw ExitCode(130) }
    }

    private typealias Loaded = (file: String, policy: Policy)

    private func loadPolicies() throws -> (both: Pair<Loaded>, settings: PolicySettings) {
        let options = kafka.options
        let settings = try StartFailure.unwrap(
            PolicySettings.load(path: options.config, environment: options.environment)
        )
        guard let current = against ?? settings.policyPath else {
            throw StartFailure.report([
                "name the policy to compare with: --against, or policy.path of the configuration"
            ])
        }
        let both = try Pair(current: current, candidate: file).map { path in
            Loaded(
                file: path,
                policy: try StartFailure.unwrap(PolicyFile.load(path: path, providers: settings.providers))
            )
        }
        return (both, settings)
    }

    /// Replays until the end of the range or Ctrl-C, after which the replayed part is reported.
    private func run(_ replay: PolicyReplay, over topic: TopicReplay) async throws -> ReplayReport {
        let progress = ReplayProgress(start: topic.start, end: topic.end ?? topic.latest) { printError($0) }
        return try await untilInterrupted(by: [.sigint], otherwise: ReplayReport()) {
            try await topic.run(replay, progress: progress)
        }
    }
}
