// SPDX-License-Identifier: Apache-2.0

import ServiceLifecycle
import Verification

/// The third stage: what became of sends is written, many in one transaction.
struct Record: Service {
    let results: BatchQueue<SendResult>
    let outbox: BatchQueue<OutboxRecord>
    let ledger: any Ledger
    let settings: CourierSettings
    let inFlight: InFlight
    let retry: LedgerRetry

    /// Ends when the stage before has finished its queue and everything in it is written.
    func run() async throws {
        for await batch in results.batches(of: settings.batchSize) {
            if let recorded = await retry.withinLease("record", { try await ledger.record(batch) }) {
                outbox.append(recorded.outbox)
            }
            inFlight.remove(batch.count)
        }
        outbox.finish()
        await shutdownTurn()
    }
}
