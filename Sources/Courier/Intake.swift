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
    let logger: Logger

    func run() async throws {
        while let batch = try await nextBatch() {
            guard let recorded = await retry.untilStopped("intake", { try await record(batch.records) }) else { return }
            await source.commit(batch)
            handOver(recorded)
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
    private func record(_ records: [InboundRecord]) async throws -> Recorded<[ClaimedSend]> {
        let policy = policies.current
        let screener = Screener(policy: policy, keys: keys, numbers: numbers)
        let now = Timestamp.now
        var generator = SystemRandomNumberGenerator()
        let candidates = records.map { screener.candidate(for: $0, now: now, using: &generator) }
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
        for rule in candidate.at(.now).passed?.notes ?? [] {
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
