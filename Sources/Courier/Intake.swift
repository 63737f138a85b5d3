// SPDX-License-Identifier: Apache-2.0

import KafkaClient
import Logging
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
    let keys: CodeKeys
    let numbers: any NumberDirectory
    let settings: CourierSettings
    let sends: BatchQueue<Dispatch.Claims>
    let outbox: BatchQueue<OutboxRecord>
    let inFlight: InFlight
    let retry: LedgerRetry
    let progress: Progress
    let logger: Logger

    func run() async throws {
        while let batch = try await nextBatch() {
            settings.observe(.intakeRead)
            let isRecorded = await progress.during(.intake) {
                guard let recorded = await recordAll(batch.records) else { return false }
                settings.observe(.intakeRecorded)
                await source.commit(batch)
                settings.observe(.intakeCommitted)
                for part in recorded { handOver(part) }
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

    /// Records a batch; nil when the worker stops before.
    ///
    /// What the database can never take is halved until the record at fault is alone, and that one becomes a dead
    /// letter: it neither stops its partition nor takes others with it.
    private func recordAll(_ records: [InboundRecord]) async -> [Recorded<[ClaimedSend]>]? {
        let outcome = await retry.untilStopped(.intake) { () async throws -> Recorded<[ClaimedSend]>? in
            do { return try await record(records) } catch is UnrecordableBatch { return nil }
        }
        guard let outcome else { return nil }
        if let recorded = outcome { return [recorded] }
        guard records.count > 1 else { return await setAside(records) }
        let middle = records.count / 2
        guard let first = await recordAll(Array(records[..<middle])),
            let second = await recordAll(Array(records[middle...]))
        else { return nil }
        return first + second
    }

    private func setAside(_ records: [InboundRecord]) async -> [Recorded<[ClaimedSend]>]? {
        for record in records {
            logger.error(
                "a record that the database cannot take becomes a dead letter",
                metadata: ["event": "intake.unrecordable", "record": "\(record)"]
            )
        }
        let recorded = await retry.untilStopped(.intake) { try await record(records, as: .unrecordable) }
        return recorded.map { [$0] }
    }

    /// One batch: read and screen, then decide and record in one transaction.
    private func record(
        _ records: [InboundRecord],
        as reason: DeadLetterReason? = nil
    ) async throws -> Recorded<[ClaimedSend]> {
        let policy = policies.current
        let screener = Screener(policy: policy, keys: keys, numbers: numbers)
        let now = settings.now()
        var generator = SystemRandomNumberGenerator()
        let candidates = records.map { record in
            let candidate = screener.candidate(for: record, now: now, using: &generator)
            return reason.map(candidate.deadLetter) ?? candidate
        }
        let recorded = try await ledger.intake(candidates) { facts in
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
        for rule in candidate.passed?.notes ?? [] {
            logger.info(
                "request let through and recorded by a rule",
                metadata: [
                    "event": "policy.recorded",
                    "rule": "\(rule)",
                    "tenant": "\(candidate.key.tenant)",
                    "request.id": "\(candidate.key.requestID)",
                ]
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
