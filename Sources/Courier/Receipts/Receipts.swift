// SPDX-License-Identifier: Apache-2.0

import Formats
import Logging
import Logs
import ServiceLifecycle
import Verification

/// Settles sends with receipts, the later reports of providers.
///
/// It runs beside the other stages and has a consumer of its own, so that back-pressure on requests never delays
/// receipts.
struct Receipts: Service {
    let context: StageContext
    let commits: OffsetCommits
    let secrets: InForce<ReceiptSecrets>
    let desk: ProviderDesk

    private var waiting: WaitingRecords { commits.waiting }

    func run() async throws {
        let (source, maximum) = (commits.source, context.settings.batchSize)
        try await withGracefulShutdownHandler {
            while let batch = try await source.nextBatch(maximum: maximum), await record(batch) {
                await waiting.waitForRoom()
            }
        } onGracefulShutdown: {
            source.stopReading()
        }
    }

    /// Records a batch; false when the database stayed unreachable until the worker's stop.
    private func record(_ batch: SourceBatch) async -> Bool {
        await context.progress.during(.receipts) {
            context.observe(.receiptsRead)
            guard let locked = await recordAndPassOn(batch.records) else { return false }
            waiting.add(locked.map { WaitingRecord(receipt: $0, at: batch.position) })
            commits.positions.append([batch.position])
            return true
        }
    }

    /// Records receipts, and returns those whose rows another transaction locks.
    ///
    /// Returns nil when the database stayed unreachable until the worker's stop.
    private func recordAndPassOn(_ records: [InboundRecord]) async -> [InboundRecord]? {
        let parts = await context.retry.recordAll(records, .receipts, halvingLocked: true) { records, reason in
            try await recordOnce(records, as: reason)
        }
        guard let parts else { return nil }
        context.observe(.receiptsRecorded)
        for (recorded, _) in parts {
            context.outbox.append(recorded.outbox)
            noteArrivals(recorded.value.settled)
        }
        return parts.flatMap(\.locked)
    }

    /// Records receipts in one transaction; a single one that meets a lock waits.
    private func recordOnce(
        _ records: [InboundRecord],
        as reason: DeadLetterReason?
    ) async throws -> (recorded: Recorded<ReceiptResult>, locked: [InboundRecord]) {
        let (receipts, deadLetters) = read(records, as: reason)
        do {
            let recorded = try await context.ledger.receive(receipts, deadLetters: deadLetters)
            return (recorded, recorded.value.waiting.map(\.record))
        } catch let error where error.isLockConflict && records.count == 1 {
            return (Recorded(ReceiptResult(settled: []), outbox: []), records)
        }
    }

    private func read(_ records: [InboundRecord], as reason: DeadLetterReason?) -> ([ReceivedReceipt], [OutboxRecord]) {
        let secrets = secrets.current
        var receipts: [ReceivedReceipt] = []
        var deadLetters: [OutboxRecord] = []
        for record in records {
            switch reason.map(ReceiptReading.deadLetter) ?? Receipt.read(record, secrets: secrets) {
            case .receipt(let receipt)
            where (receipt.sendID?.uuid.cell ?? context.settings.cell) != context.settings.cell:
                deadLetters.append(.deadLetter(record, reason: .otherCell, at: context.now()))
            case .receipt(let receipt): receipts.append(ReceivedReceipt(receipt, in: record))
            case .ignored: continue
            case .deadLetter(let reason):
                deadLetters.append(.deadLetter(record, reason: reason, at: context.now()))
            }
        }
        return (receipts, deadLetters)
    }

    /// Retries waiting receipts; those that wait at a stop are read again by the next worker.
    func retryWaiting() async {
        let tried = waiting.next(upTo: context.settings.batchSize)
        if tried.isEmpty { return }
        context.logger.log(.receiptsWaiting, [.records: LogValue(waiting.all.count)])
        let locked = await context.progress.during(.receipts) { await recordAndPassOn(tried.map(\.record)) }
        guard let locked else { return }
        waiting.tried(tried, leaving: Set(locked.map { RecordPlace($0) }))
        commits.positions.append(tried.map(\.position))
    }

    /// Records the delivery times of messages, from the creation time in the send's id to the arrival.
    ///
    /// Uses the arrival time of the receipt, since it may be read long after.
    private func noteArrivals(_ sends: [ReportedSend]) {
        let now = context.now()
        for send in sends where send.state == .delivered {
            guard let provider = send.provider, let madeAt = send.reference.id.uuid.version7Time else { continue }
            desk.noteArrival(provider, after: max(.zero, min(send.arrivedAt ?? now, now) - madeAt))
        }
    }
}
