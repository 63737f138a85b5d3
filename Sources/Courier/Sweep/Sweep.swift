// SPDX-License-Identifier: Apache-2.0

import Formats
import Logging
import Logs
import ServiceLifecycle
import Verification

/// Handles everything that becomes due by time: expired leases, due retries, expired verifications, receipts that wait
/// for their send, and partitions.
struct Sweep: Service {
    let context: StageContext
    let desk: ProviderDesk

    func run() async throws {
        await withDiscardingTaskGroup { group in
            group.addTask {
                var next = ContinuousClock.now
                await repeatedly(.takeover) {
                    if ContinuousClock.now >= next {
                        next = .now + Self.sessionInterval
                        await endStalledSessions()
                    }
                    return await takeOver()
                }
            }
            var next = ContinuousClock.now
            var overdue = MaintenanceNotice()
            await repeatedly(.sweep) {
                if ContinuousClock.now >= next {
                    next = .now + .seconds(10)
                    let age = await context.retry.run(.sweep, .once) { try await context.ledger.maintain() }
                    if let age, overdue.take(age, at: .now) { warn(age) }
                }
                return await sweep()
            }
        }
    }

    /// Time between two checks for stalled sessions: the recipients whose rows such a session locks wait for the next
    /// check.
    private static let sessionInterval = Duration.seconds(1)

    private func endStalledSessions() async {
        let ended = await context.retry.run(.takeover, .once) { try await context.ledger.endStalledSessions() }
        guard let ended, ended > 0 else { return }
        context.logger.log(.postgresSessionsEnded, [.sessions: LogValue(ended)])
    }

    private func warn(_ age: Duration) {
        context.logger.log(.maintenanceOverdue, [.ageMilliseconds: .integer(age.microseconds / 1000)])
    }

    /// Repeats an operation: at once while it reports more work, else after an interval.
    private func repeatedly(_ stage: Progress.Stage, _ body: () async -> Bool) async {
        while !Task.isStopping {
            if await context.progress.during(stage, body) { continue }
            await Task.pause(until: .now + context.settings.sweepInterval)
        }
    }

    /// Sweeps once; true when a sweep was so large that there may be more.
    private func sweep() async -> Bool {
        var most = 0
        // While events are not published, make no more of them. The group waits for a stopping worker, so stop early.
        if context.outbox.weight >= 20 * context.settings.batchSize { return false }
        if !Task.isStopping,
            let swept = await context.retry.run(.sweep, .once, { try await context.ledger.sweepExpired() })
        {
            most = max(most, swept.outbox.count)
            context.outbox.append(swept.outbox)
        }
        if !Task.isStopping,
            let swept = await context.retry.run(.sweep, .once, { try await context.ledger.sweepReceipts() })
        {
            most = max(most, swept.value, swept.outbox.count)
            context.outbox.append(swept.outbox)
        }
        return most * 2 > context.settings.batchSize
    }

    /// Takes over one batch of sends whose worker is dead or whose next attempt is due.
    ///
    /// True when it was so large that there may be more.
    private func takeOver() async -> Bool {
        let claimedAt = ContinuousClock.now
        let room = context.inFlight.reserve(upTo: context.settings.batchSize, for: .takeover)
        let swept = await context.retry.run(.takeover, .once) { try await context.ledger.sweepSends(capacity: room) }
        context.inFlight.claim(swept?.value.count ?? 0, of: room, for: .takeover)
        guard let swept else { return false }
        context.outbox.append(swept.outbox)
        if !swept.value.isEmpty {
            context.observe(.sweepClaimed)
            context.logger.log(.sweepTakenOver, [.sends: LogValue(swept.value.count)])
            context.claims.append([Dispatch.Claims(sends: swept.value, claimedAt: claimedAt)])
        }
        // A paused provider's sends are released again: counting them here would claim them in a busy loop.
        let count = swept.outbox.count + (desk.hasPause ? 0 : swept.value.count)
        return count * 2 > context.settings.batchSize
    }
}

/// Decides when to log overdue partition maintenance, which another session's lock may block for any time.
struct MaintenanceNotice {
    /// Maintenance is due once an hour, and is retried every five minutes after a failure.
    private static let limit = Duration.seconds(65 * 60)
    private static let pause = Duration.seconds(600)

    private var isOverdue = false
    private var reportedAt: ContinuousClock.Instant?

    /// Records the age of the last successful maintenance; true when it is to be logged.
    ///
    /// Never true at the first check: after a long stop of all workers, another one may be maintaining the partitions.
    mutating func take(_ age: Duration, at now: ContinuousClock.Instant) -> Bool {
        guard age > Self.limit else {
            self = MaintenanceNotice()
            return false
        }
        defer { isOverdue = true }
        guard isOverdue else { return false }
        if let reportedAt, now - reportedAt < Self.pause { return false }
        reportedAt = now
        return true
    }
}
