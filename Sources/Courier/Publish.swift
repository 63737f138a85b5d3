// SPDX-License-Identifier: Apache-2.0

import Logging
import ServiceLifecycle
import Verification

/// The fourth stage: records of the outbox are produced, and forgotten once the broker has them.
struct Publish: Service {
    let outbox: BatchQueue<OutboxRecord>
    let sink: any RecordSink
    let ledger: any Ledger
    let settings: CourierSettings
    let inFlight: InFlight
    let retry: LedgerRetry
    let progress: Progress
    let logger: Logger

    /// Ends when the stage before has finished its queue and everything in it is published or left to the sweep.
    func run() async throws {
        for await batch in outbox.batches(of: 2 * settings.batchSize, isBusy: { inFlight.isBusy }) {
            await progress.during(.publish) { await publish(batch) }
        }
        await shutdownTurn()
    }

    private func publish(_ batch: [OutboxRecord]) async {
        let delivered = await sink.publish(batch)
        if delivered.count < batch.count {
            // They stay in the outbox; a sweep publishes them when their lease is over.
            logger.warning(
                "records were not taken by the broker",
                metadata: ["event": "publish.failed", "records": "\(batch.count - delivered.count)"]
            )
        }
        guard !delivered.isEmpty else { return }
        settings.observe(.publishDelivered)
        let isForgotten: Void? = await retry.withinLease(.publish, { try await ledger.published(delivered) })
        if isForgotten != nil { settings.observe(.publishForgotten) }
    }
}
