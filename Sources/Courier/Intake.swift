// SPDX-License-Identifier: Apache-2.0

import KafkaClient
import Logging
import Logs
import ServiceLifecycle
import Synchronization
import Verification

/// The first stage: records become decisions.
///
/// PostgreSQL owns a request from the transaction on; only then is its offset committed, so a slow provider never blocks
/// a partition and a rebalance never repeats a send.
struct Intake: Service {
    let source: any RecordSource
    let ledger: any Ledger
    let policies: PolicySource
    let keys: KeySource
    let numbers: any NumberDirectory
    let settings: CourierSettings
    let sends: BatchQueue<Dispatch.Claims>
    let outbox: BatchQueue<OutboxRecord>
    let inFlight: InFlight
    let retry: LedgerRetry
    let progress: Progress
    let statistics: Statistics
    let logger: Logger

    func run() async throws {
        let commits = OffsetCommits(source: source, progress: progress) { settings.observe(.intakeCommitted) }
        try await withThrowingDiscardingTaskGroup { group in
            group.addTask { await commits.run() }
            defer { commits.finish() }
            var next = try await read()
            while let (batch, screened) = next, await waitForRoom(batch) {
                // Only behind a full batch: what comes one by one is decided together with what comes meanwhile.
                async let ahead = batch.records.count == largestBatch ? read() : nil
                guard await decide(batch, screened) else { return }
                commits.add(batch)
                next = try await ahead
                if next == nil { next = try await read() }
            }
        }
    }

    /// The next batch, screened; nil when the worker stops.
    private func read() async throws -> (SourceBatch, ScreenedRecords)? {
        let batch = try await cancelWhenGracefulShutdown { try await source.nextBatch(maximum: largestBatch) }
        guard let batch else { return nil }
        return await progress.during(.intake) { (batch, await screen(batch.records)) }
    }

    /// Records decided in one transaction at most: each may become a send, for which there must be room.
    private var largestBatch: Int { min(settings.batchSize, max(1, settings.maxInFlight / 2)) }

    /// Reserves places for the sends of a batch, of which each record may make one; false when the worker stops before.
    private func waitForRoom(_ batch: SourceBatch) async -> Bool {
        await cancelWhenGracefulShutdown { await inFlight.waitForRoom(batch.records.count) }
    }

    private func screen(_ records: [InboundRecord]) async -> ScreenedRecords {
        await ScreenedRecords(records, policies: policies, keys: keys, numbers: numbers, now: settings.now())
    }

    /// Decides a batch and hands on what follows; false when the database could not be reached until the worker's end.
    private func decide(_ batch: SourceBatch, _ screened: ScreenedRecords) async -> Bool {
        await progress.during(.intake) {
            let start = ContinuousClock.now
            settings.observe(.intakeRead)
            // Screened again when it waited for room meanwhile and another policy came, and after a failure: what was
            // written with the ids of before may be there.
            let first = Mutex(screened.isCurrent(policies, keys) ? screened : nil)
            let recorded = await retry.recordAll(batch.records, .intake) { records, reason in
                if let screened = first.withLock({ $0.take() }) { return try await record(screened, as: reason) }
                return try await record(screen(records), as: reason)
            }
            guard let recorded else { return false }
            settings.observe(.intakeRecorded)
            inFlight.claim(recorded.reduce(0) { $0 + $1.value.sends.count }, of: batch.records.count)
            for part in recorded { handOver(part) }
            statistics.noteDecided(batch.records, since: start, at: settings.now())
            return true
        }
    }

    /// Decides and records what was screened, in one transaction.
    private func record(
        _ screened: ScreenedRecords,
        as reason: DeadLetterReason?
    ) async throws -> Recorded<Dispatch.Claims> {
        let claimedAt = ContinuousClock.now
        let candidates = screened.candidates.map { reason.map($0.deadLetter) ?? $0 }
        let recorded = try await ledger.intake(candidates) { candidates, facts in
            IntakeDecision.decide(
                candidates,
                facts: facts,
                policy: screened.policy,
                settings: settings.decision,
                keys: screened.keys
            )
        }
        // Only now: a batch that is decided again after a failure is reported once.
        for candidate in candidates { report(candidate) }
        return Recorded(Dispatch.Claims(sends: recorded.value, claimedAt: claimedAt), outbox: recorded.outbox)
    }

    /// Rules that let a request through and want it known.
    private func report(_ candidate: Candidate) {
        guard candidate.possiblyPassed.contains(where: { !$0.notes.isEmpty }) else { return }
        guard let passed = candidate.at(.now).passed else { return }
        for rule in passed.notes {
            logger.log(
                .policyRecorded,
                [
                    .rule: .text(rule), .tenant: .text(candidate.key.tenant),
                    .requestID: .text(candidate.key.requestID), .region: .text(passed.region?.code ?? ""),
                ].adding(candidate.trace)
            )
        }
    }

    private func handOver(_ recorded: Recorded<Dispatch.Claims>) {
        outbox.append(recorded.outbox)
        guard !recorded.value.sends.isEmpty else { return }
        sends.append([recorded.value])
    }
}
