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
        while let batch = try await nextBatch() {
            let start = ContinuousClock.now
            let isRecorded = await progress.during(.intake) {
                settings.observe(.intakeRead)
                let recorded = await retry.recordAll(batch.records, .intake) { try await record($0, as: $1) }
                guard let recorded else { return false }
                settings.observe(.intakeRecorded)
                for part in recorded { handOver(part) }
                statistics.noteDecided(batch.records, since: start, at: settings.now())
                // Messages do not wait for the broker: a record that comes again is a request that is known.
                await source.commit(batch)
                settings.observe(.intakeCommitted)
                return true
            }
            if !isRecorded { return }
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
        var generator = KernelRandomness()
        let candidates = records.map { record in
            let candidate = screener.candidate(for: record, now: now, using: &generator)
            return reason.map(candidate.deadLetter) ?? candidate
        }
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
