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
    let progress: Progress
    let statistics: Statistics

    /// Ends when the stage before has finished its queue and everything in it is written.
    func run() async throws {
        if ledger.databases == 1 { await record(results) } else { await recordApart() }
        outbox.finish()
        await shutdownTurn()
    }

    /// Gives each database a queue of its own: one that is away holds up no other.
    private func recordApart() async {
        let queues = (0..<ledger.databases).map { _ in BatchQueue<SendResult>() }
        await withDiscardingTaskGroup { group in
            for queue in queues { group.addTask { await record(queue) } }
            for await batch in results.batches(of: settings.batchSize) {
                let parts = Dictionary(grouping: batch) { $0.send.id.uuid.database(of: queues.count) }
                for (database, part) in parts { queues[database].append(part) }
            }
            for queue in queues { queue.finish() }
        }
    }

    private func record(_ results: BatchQueue<SendResult>) async {
        // Answers come one by one, and a transaction for each would cost the database more than the sends did.
        for await batch in results.batches(of: settings.batchSize, after: { .milliseconds(5) }) {
            await progress.during(.record) {
                let start = ContinuousClock.now
                // A receipt may follow its send's answer closely.
                for round in batch.rounds(by: \.send.id) {
                    if let recorded = await retry.persistently(.record, { try await ledger.record(round) }) {
                        settings.observe(.recordRecorded)
                        outbox.append(recorded.outbox)
                    }
                }
                statistics.noteRecorded(batch.count, since: start)
            }
            inFlight.remove(batch.count)
        }
    }
}
