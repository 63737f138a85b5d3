// SPDX-License-Identifier: Apache-2.0

import Logging
import Logs
import ServiceLifecycle
import Verification

/// What time and dead workers leave behind: expired leases, due retries, verifications that ran out, receipts that wait
/// for their send, and partitions.
struct Sweep: Service {
    let context: StageContext
    let takeover: Takeover

    func run() async throws {
        await withDiscardingTaskGroup { group in
            group.addTask {
                var next = ContinuousClock.now
                await repeatedly(.takeover) {
                    if ContinuousClock.now >= next {
                        next = .now + Self.sessionInterval
                        await endStalledSessions()
                    }
                    return await takeover.take()
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

    /// Between two looks for sessions that stand still: the people whom one locks out wait for the next look.
    private static let sessionInterval = Duration.seconds(1)

    private func endStalledSessions() async {
        let ended = await context.retry.run(.takeover, .once) { try await context.ledger.endStalledSessions() }
        guard let ended, ended > 0 else { return }
        context.logger.log(.postgresSessionsEnded, [.sessions: LogValue(ended)])
    }

    private func warn(_ age: Duration) {
        context.logger.log(.maintenanceOverdue, [.ageMilliseconds: .integer(age.microseconds / 1000)])
    }

    /// Does something over and over: at once while it leaves more, else after an interval.
    private func repeatedly(_ stage: Progress.Stage, _ body: () async -> Bool) async {
        while !Task.isStopping {
            if await context.progress.during(stage, body) { continue }
            await Task.pause(until: .now + context.settings.sweepInterval)
        }
    }

    /// Sweeps once; true when there was so much of something that there may be more.
    private func sweep() async -> Bool {
        var most = 0
        // While nobody takes events, what only makes more of them waits. A worker that stops is waited for by its group.
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
}

/// Takes sends over whose worker is dead or whose next attempt is due.
struct Takeover {
    let context: StageContext
    let claims: BatchQueue<Dispatch.Claims>
    let desk: ProviderDesk

    /// Takes over once; true when there was so much that there may be more.
    func take() async -> Bool {
        let claimedAt = ContinuousClock.now
        let room = context.inFlight.reserve(upTo: context.settings.batchSize, for: .takeover)
        let swept = await context.retry.run(.takeover, .once) { try await context.ledger.sweepSends(capacity: room) }
        context.inFlight.claim(swept?.value.count ?? 0, of: room, for: .takeover)
        guard let swept else { return false }
        context.outbox.append(swept.outbox)
        if !swept.value.isEmpty {
            context.settings.observe(.sweepClaimed)
            context.logger.log(.sweepTakenOver, [.sends: LogValue(swept.value.count)])
            claims.append([Dispatch.Claims(sends: swept.value, claimedAt: claimedAt)])
        }
        // What a provider does not take now is handed back, and would be claimed again and again.
        let count = swept.outbox.count + (desk.hasPause ? 0 : swept.value.count)
        return count * 2 > context.settings.batchSize
    }
}

/// When it is told that partitions are not maintained: somebody's lock may be in the way for as long as they like.
struct MaintenanceNotice {
    /// It is due once an hour, and what cannot be done then is tried again every five minutes.
    private static let limit = Duration.seconds(65 * 60)
    private static let pause = Duration.seconds(600)

    private var isOverdue = false
    private var toldAt: ContinuousClock.Instant?

    /// Takes how long ago the partitions were as they should be; true when that is to be told.
    ///
    /// At the first look after a long stop of all workers, another one may be maintaining them.
    mutating func take(_ age: Duration, at now: ContinuousClock.Instant) -> Bool {
        guard age > Self.limit else {
            self = MaintenanceNotice()
            return false
        }
        defer { isOverdue = true }
        guard isOverdue else { return false }
        if let toldAt, now - toldAt < Self.pause { return false }
        toldAt = now
        return true
    }
}
