// SPDX-License-Identifier: Apache-2.0

import Administration
import ArgumentParser
import Formats
import SettingsReading
import UnixSignals
import Verification

struct BrakeReplayCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "replay",
        abstract: "Replays past verifications: what a policy's brake would have refused.",
        discussion: """
            Applies the workers' rule to past verifications, at their own times. It shows
            when each scope would have been blocked, the messages and the money saved, and
            the honest people refused: those whose code was typed in. It reads the rows
            that retention keeps, and changes nothing.

              code-courier brake replay --config courier.yaml --since 7d
              code-courier brake replay --config courier.yaml --policy next.yaml \\
                --since 2026-11-24 --until 2026-11-25 --enforce

            --enforce treats each recording scope as enforced.
            """
    )

    @OptionGroup var database: OperatorDatabaseOptions

    @Option(help: ArgumentHelp("The policy; default: the configuration's.", valueName: "policy.yaml"))
    var policy: String?

    @Option(help: "Where the range begins: a span before now such as 7d or 12h, or a time.")
    var since = TimeArgument.ago(.seconds(86_400))

    @Option(help: "Where the range ends: now, a span before now, or a time.")
    var until = TimeArgument.now

    @Option(help: "Only this tenant's; default: all tenants'.")
    var tenant: String?

    @Flag(help: "Treat each recording scope of the policy as enforced.")
    var enforce = false

    @Flag(help: "Print JSON.")
    var json = false

    func run() async throws {
        let loaded = try database.loadPolicy(policy)
        if let tenant, loaded.tenants[tenant] == nil {
            throw StartFailure.report([TenantArgument.fault(tenant, among: loaded.tenants.keys, of: "the policy")])
        }
        let now = Timestamp.now
        guard let start = since.time(before: now) else {
            throw StartFailure.report(["--since must be a span before now such as 7d, or a time"])
        }
        guard let end = until.time(before: now).map({ min($0, now) }), start < end else {
            throw StartFailure.report(["--since must be before --until"])
        }
        let played = enforce ? loaded.withEnforcedBrakes : loaded
        let report = try await database.withBrake { desk in
            let history = BrakeHistoryReplay(desk: desk, tenant: tenant, start: start, end: end)
            return try await untilInterrupted(by: [.sigint], otherwise: BrakeReplayReport()) {
                try await history.run(played) { printError($0) }
            }
        }
        let output = BrakeReplayOutput(
            report: report,
            start: start,
            end: end,
            version: played.version,
            currency: played.prices?.currency
        )
        if json { printOutput(output.json) } else { printOutput(output.lines) }
        if report.isInterrupted { throw ExitCode(130) }
    }
}

/// A replay of the verifications of a database, slice by slice.
struct BrakeHistoryReplay: Sendable {
    let desk: BrakeDesk
    let tenant: String?
    let start: Timestamp
    let end: Timestamp

    /// The time that one statement reads: at 1,000 verifications a second 60,000 rows.
    private static let slice = Duration.seconds(60)

    /// Replays the range; a cancelled task ends it early, with a report of the part replayed.
    func run(_ policy: Policy, progress: (String) -> Void) async throws -> BrakeReplayReport {
        var next = start - BrakeReplay.warmUp
        let hours = try await desk.hours(from: (next - ConversionHistory.span).hour, to: end, tenant: tenant)
        var replay = BrakeReplay(policy, hours: hours, from: start)
        defer { replay.removeAll() }
        var clock = ProgressClock()
        while next < end, !Task.isCancelled {
            let until = min(end, next + Self.slice)
            let samples = try await desk.verifications(from: next, to: until, tenant: tenant)
            replay.play(samples, to: until)
            next = until
            guard clock.elapsed() != nil else { continue }
            let part = max(0, (next - start) / (end - start))
            progress("\(replay.report.verifications.grouped) verifications, to \(next.rfc3339) (\(Int(part * 100)) %)")
        }
        var report = replay.report
        report.isInterrupted = next < end
        return report
    }
}

extension Policy {
    /// The policy with every recording scope of the brake enforced.
    var withEnforcedBrakes: Policy {
        Policy(
            version: version,
            tenants: tenants.mapValues { tenant in
                var tenant = tenant
                tenant.brake = tenant.brake.enforced
                return tenant
            },
            numberPlan: numberPlan,
            prices: prices
        )
    }
}
