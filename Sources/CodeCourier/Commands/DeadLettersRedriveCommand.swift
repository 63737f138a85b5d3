// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Formats
import Foundation
import KafkaClient
import UnixSignals
import Verification

struct DeadLettersRedriveCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "redrive",
        abstract: "Puts dead letters back on the topic they came from, as they were.",
        discussion: """
            A record goes back with its own key, value, headers and time, so a request that
            has grown too old meanwhile is answered and never sent. A request that was
            decided before is not decided again. Only the request and the receipt topic get
            records back. A dead letter that no broker took whole is refused: it holds only
            the beginning of its record. The dead letters stay where they are.

              code-courier dead-letters redrive --since 2h --all --dry-run

            Exit code 1: not everything that was asked for went back.
            """
    )

    @OptionGroup var source: DeadLetterOptions

    @Option(parsing: .upToNextOption, help: ArgumentHelp("The dead letters with these ids.", valueName: "id"))
    var id: [String] = []

    @Option(help: "The dead letters with this reason.")
    var reason: DeadLetterReason?

    @Flag(help: "Every dead letter.")
    var all = false

    @Flag(help: "Say what would go back, and change nothing.")
    var dryRun = false

    func validate() throws {
        let ways = [!id.isEmpty, reason != nil, all].count { $0 }
        guard ways == 1 else { throw ValidationError("say what goes back: one of --id, --reason and --all") }
    }

    private var selection: DeadLetterSelection {
        if let reason { return .reason(reason) }
        return all ? .all : .ids(Set(id))
    }

    func run() async throws {
        let topic = try source.topic()
        do {
            let plan = try await Redrive.plan(selection, topic)
            var outcome = Redrive.Outcome()
            if !dryRun, plan.count > 0 {
                outcome = try await run(plan, by: try await Redrive(topic, plan: plan))
            }
            let report = RedriveReport(plan: plan, outcome: dryRun ? nil : outcome, topics: topic.kafka.topics)
            printOutput(report.lines)
            if outcome.isInterrupted { throw ExitCode(130) }
            if !report.isComplete { throw ExitCode(1) }
        } catch let error as KafkaError {
            throw StartFailure.report([KafkaFault(error)])
        }
    }

    /// Redrives until the end or Ctrl-C, which stops it after the current batch.
    private func run(_ plan: RedrivePlan, by redrive: Redrive) async throws -> Redrive.Outcome {
        let total = plan.count
        let progress = ProgressLines { sent in "\(sent.grouped) of \(total.grouped) are back" }
        return try await untilInterrupted(by: [.sigint, .sigterm], otherwise: Redrive.Outcome()) {
            try await redrive.run(plan) { progress.show($0) }
        }
    }
}
