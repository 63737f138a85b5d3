// SPDX-License-Identifier: Apache-2.0

import Administration
import ArgumentParser
import Formats
import Verification

struct BudgetReplayCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "replay",
        abstract: "Replays past messages against the budgets and prices of a policy.",
        discussion: """
            Shows what the messages of the past would have cost, when a budget would have
            warned, kept its reserve or been exhausted, and how many people it would have
            refused. It only reads. Of messages older than postgres.retention only hourly
            counts are known, for 35 days. The login needs the role courier_operator.

              code-courier budget replay --config courier.yaml --policy next.yaml
              code-courier budget replay --config courier.yaml --since 30d \\
                --budget all-day --steps
            """
    )

    @OptionGroup var database: OperatorDatabaseOptions

    @Option(help: ArgumentHelp("The policy; default: the configuration's.", valueName: "policy.yaml"))
    var policy: String?

    @Option(help: "Where the range begins: a span before now such as 7d or 12h, or a time.")
    var since = TimeArgument.ago(.seconds(7 * 86_400))

    @Option(help: "Show only the budget of this name; the others still refuse.")
    var budget: String?

    @Flag(help: "Show each step of a window, too.")
    var steps = false

    @Flag(help: "Print JSON.")
    var json = false

    /// The time of one statement, which at 1,000 messages a second reads 300,000: within a second or two.
    private static let slice = Duration.seconds(300)

    func run() async throws {
        let policy = try loadPolicy()
        let now = Timestamp.now.minute
        guard let since = since.time(before: now)?.minute, since < now else {
            throw StartFailure.report(["--since must be a time before now, such as 7d"])
        }
        let empty = BudgetReplay(policy: policy, since: since)
        if !empty.accounts.contains(where: { budget == nil || $0.key.name == budget }) {
            let names = Set(empty.accounts.keys.map(\.name)).sorted().joined(separator: ", ")
            throw StartFailure.report([
                names.isEmpty ? "the policy has no budgets" : "--budget: the policy has only \(names)"
            ])
        }
        let replay = try await database.withBudgets { try await play(empty, to: now, by: $0) }
        let output = BudgetReplayOutput(replay: replay, end: now, name: budget, hasSteps: steps)
        if json { printOutput(output.json) } else { printOutput(output.lines) }
    }

    private func loadPolicy() throws -> Policy {
        let options = database.options
        let settings = try StartFailure.unwrap(
            PolicySettings.load(path: options.config, environment: options.environment)
        )
        guard let path = policy ?? settings.policyPath else {
            throw StartFailure.report(["name the policy: --policy, or policy.path of the configuration"])
        }
        return try StartFailure.unwrap(PolicyFile.load(path: path, providers: settings.providers))
    }

    private func play(_ empty: BudgetReplay, to end: Timestamp, by desk: BudgetDesk) async throws -> BudgetReplay {
        var replay = empty
        var time = empty.start.minute
        var clock = ProgressClock()
        while time < end {
            let next = min(time + Self.slice, end)
            let messages = try await desk.history(from: time, to: next)
            for minute in messages.minutes { replay.add(minute) }
            time = next
            if clock.elapsed() != nil {
                let part = Double((time - empty.start).microseconds) / Double((end - empty.start).microseconds)
                let percent = Int(part * 100)
                printError("\(replay.messages.grouped) messages, to \(time.rfc3339) (\(percent) %)")
            }
        }
        return replay
    }
}

extension Timestamp {
    fileprivate var minute: Timestamp { Timestamp(microseconds: microseconds / 60_000_000 * 60_000_000) }
}

extension [PastMessages] {
    /// The messages of each minute, in order.
    fileprivate var minutes: [[PastMessages]] {
        reduce(into: []) { minutes, messages in
            if minutes.last?.first?.minute == messages.minute {
                minutes[minutes.count - 1].append(messages)
            } else {
                minutes.append([messages])
            }
        }
    }
}
