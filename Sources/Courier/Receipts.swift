// SPDX-License-Identifier: Apache-2.0

import Logging
import ServiceLifecycle
import Verification

/// The stage beside the others: what providers say of messages later settles their sends.
///
/// It has a consumer of its own, so that requests that wait for room do not keep it.
struct Receipts: Service {
    let context: StageContext
    let source: any RecordSource
    let secrets: InForce<ReceiptSecrets>
    let desk: ProviderDesk

    func run() async throws {
        let commits = OffsetCommits(source: source, progress: context.progress) {}
        try await withThrowingDiscardingTaskGroup { group in
            group.addTask { await commits.run() }
            defer { commits.finish() }
            try await withGracefulShutdownHandler {
                while let batch = try await source.nextBatch(maximum: context.settings.batchSize), await record(batch) {
                    commits.add([batch.position])
                }
            } onGracefulShutdown: {
                source.stopReading()
            }
        }
    }

    /// Records a batch; false when the database could not be reached until the worker's end.
    private func record(_ batch: SourceBatch) async -> Bool {
        await context.progress.during(.receipts) {
            context.settings.observe(.receiptsRead)
            let recorded = await context.retry.recordAll(batch.records, .receipts) { try await record($0, as: $1) }
            guard let recorded else { return false }
            context.settings.observe(.receiptsRecorded)
            for part in recorded {
                context.outbox.append(part.outbox)
                noteArrivals(part.value)
            }
            return true
        }
    }

    /// How long messages were on their way: the id of a send holds the time at which it was made.
    ///
    /// What counts is when they arrived, since receipts may be read long after.
    private func noteArrivals(_ sends: [ReportedSend]) {
        let now = context.settings.now()
        for send in sends where send.state == .delivered {
            guard let provider = send.provider, let madeAt = send.reference.id.uuid.version7Time else { continue }
            desk.noteArrival(provider, after: max(.zero, min(send.arrivedAt ?? now, now) - madeAt))
        }
    }

    private func record(
        _ records: [InboundRecord],
        as reason: DeadLetterReason?
    ) async throws -> Recorded<[ReportedSend]> {
        let secrets = secrets.current
        var receipts: [ReceivedReceipt] = []
        var deadLetters: [OutboxRecord] = []
        for record in records {
            switch reason.map(ReceiptReading.deadLetter) ?? Receipt.read(record, secrets: secrets) {
            case .receipt(let receipt)
            where (receipt.sendID?.uuid.cell ?? context.settings.cell) != context.settings.cell:
                deadLetters.append(.deadLetter(record, reason: .otherCell, at: context.settings.now()))
            case .receipt(let receipt): receipts.append(ReceivedReceipt(receipt, in: record))
            case .ignored: continue
            case .deadLetter(let reason):
                deadLetters.append(.deadLetter(record, reason: reason, at: context.settings.now()))
            }
        }
        return try await context.ledger.receive(receipts, deadLetters: deadLetters)
    }
}
