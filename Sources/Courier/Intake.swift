// SPDX-License-Identifier: Apache-2.0

import KafkaClient
import Logging
import Logs
import ServiceLifecycle
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
        let recorded = BatchQueue<SourceBatch>()
        try await withThrowingDiscardingTaskGroup { group in
            group.addTask { await commit(recorded) }
            defer { recorded.finish() }
            while let batch = try await nextBatch() {
                guard await progress.during(.intake, { await decide(batch) }) else { return }
                recorded.append([batch])
            }
        }
    }

    /// Decides a batch and hands on what follows; false when the database could not be reached until the worker's end.
    private func decide(_ batch: SourceBatch) async -> Bool {
        let start = ContinuousClock.now
        settings.observe(.intakeRead)
        let recorded = await retry.recordAll(batch.records, .intake) { try await record($0, as: $1) }
        guard let recorded else { return false }
        settings.observe(.intakeRecorded)
        for part in recorded { handOver(part) }
        statistics.noteDecided(batch.records, since: start, at: settings.now())
        return true
    }

    /// Commits what is recorded, many batches together.
    ///
    /// Nothing waits for it, and each commit costs the broker as much as reading a batch. A record that comes again
    /// meanwhile is a request that is known.
    private func commit(_ recorded: BatchQueue<SourceBatch>) async {
        for await batches in recorded.batches(of: .max, after: .milliseconds(50), isBusy: { true }) {
            await progress.during(.commit) {
                await source.commit(batches)
                settings.observe(.intakeCommitted)
            }
        }
    }

    /// Takes no more records than sends can be claimed for them.
    private func nextBatch() async throws -> SourceBatch? {
        try await cancelWhenGracefulShutdown {
            await inFlight.waitForRoom(min(settings.batchSize, max(1, settings.maxInFlight / 2)))
            if Task.isCancelled { return nil }
            return try await source.nextBatch(maximum: min(settings.batchSize, max(1, inFlight.free)))
        }
    }

    /// One batch: read and screen, then decide and record in one transaction.
    private func record(
        _ records: [InboundRecord],
        as reason: DeadLetterReason?
    ) async throws -> Recorded<[ClaimedSend]> {
        let policy = policies.current
        let keys = keys.current
        let screener = Screener(policy: policy, keys: keys, numbers: numbers)
        let now = settings.now()
        let candidates = await Self.candidates(records, screener, now).map { reason.map($0.deadLetter) ?? $0 }
        let recorded = try await ledger.intake(candidates) { candidates, facts in
            IntakeDecision.decide(
                candidates,
                facts: facts,
                policy: policy,
                settings: settings.decision,
                keys: keys
            )
        }
        // Only now: a batch that is decided again after a failure is reported once.
        for candidate in candidates { report(candidate) }
        return recorded
    }

    /// Reads and screens records: many of them in parts beside each other, since the database waits for it.
    private static func candidates(
        _ records: [InboundRecord],
        _ screener: Screener,
        _ now: Timestamp
    ) async -> [Candidate] {
        let size = 128
        return await withTaskGroup(of: (start: Int, candidates: [Candidate]).self) { group in
            for start in stride(from: 0, to: records.count, by: size) {
                group.addTask {
                    var generator = KernelRandomness()
                    let part = records[start..<min(start + size, records.count)]
                    return (start, part.map { screener.candidate(for: $0, now: now, using: &generator) })
                }
            }
            var parts: [(start: Int, candidates: [Candidate])] = []
            for await part in group { parts.append(part) }
            return parts.sorted { $0.start < $1.start }.flatMap(\.candidates)
        }
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

    private func handOver(_ recorded: Recorded<[ClaimedSend]>) {
        outbox.append(recorded.outbox)
        guard !recorded.value.isEmpty else { return }
        inFlight.add(recorded.value.count)
        sends.append([Dispatch.Claims(sends: recorded.value, claimedAt: .now)])
    }
}
