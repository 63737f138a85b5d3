// SPDX-License-Identifier: Apache-2.0

import Logging
import Logs
import ServiceLifecycle
import Verification

/// The fourth stage: records of the outbox are produced, and forgotten once the broker has them.
///
/// Most are handed over by the stage that wrote them. What waited behind an earlier event of its verification, or was left
/// by a dead worker, is taken from the table: see `catchUp`.
struct Publish: Service {
    let outbox: BatchQueue<OutboxRecord>
    let sink: any RecordSink
    let ledger: any Ledger
    let settings: CourierSettings
    let inFlight: InFlight
    let retry: LedgerRetry
    let progress: Progress
    let statistics: Statistics
    let logger: Logger

    /// Ends when the stage before has finished its queue and everything in it is published or left in the table.
    func run() async throws {
        let published = BatchQueue<OutboxRecord>()
        let (looks, look) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        await withDiscardingTaskGroup { group in
            group.addTask { await forget(published, look) }
            await withDiscardingTaskGroup { sources in
                sources.addTask { await tick(look) }
                sources.addTask { await catchUp(published, looks) }
                let batches = outbox.batches(of: 2 * settings.batchSize) { .milliseconds(inFlight.isBusy ? 10 : 0) }
                for await batch in batches {
                    published.append(await progress.during(.publish) { await publish(batch) })
                }
            }
            published.finish()
        }
        await shutdownTurn()
    }

    /// Publishes a batch and returns what the broker has taken.
    func publish(_ batch: [OutboxRecord]) async -> [OutboxRecord] {
        let start = ContinuousClock.now
        let published = await sink.publish(batch)
        let delivered = published.delivered
        statistics.notePublished(delivered, since: start, at: settings.now())
        if delivered.count < batch.count {
            statistics.noteFailure(of: .kafka, count: batch.count - delivered.count)
            // They stay in the outbox, and are taken from there when their lease is over.
            logger.log(
                .publishFailed,
                [
                    .records: LogValue(batch.count - delivered.count),
                    .error: published.failure.map { LogValue($0) } ?? .text(""),
                ]
            )
        }
        guard !delivered.isEmpty else { return [] }
        report(delivered)
        settings.observe(.publishDelivered)
        return delivered
    }

    /// Deletes what is published, for which no event waits: many records together.
    ///
    /// What waits behind one of them may go now.
    private func forget(_ published: BatchQueue<OutboxRecord>, _ look: AsyncStream<Void>.Continuation) async {
        for await batch in published.batches(of: 2 * settings.batchSize, after: { .milliseconds(25) }) {
            await progress.during(.forget) {
                let doOthersWait = await retry.withinLease(.forget) { try await ledger.published(batch) }
                guard let doOthersWait else { return }
                settings.observe(.publishForgotten)
                if doOthersWait { look.yield() }
            }
        }
    }

    /// A line for each event at `debug`, and one at `warning` for what an operator has to know of.
    private func report(_ records: [OutboxRecord]) {
        let isVerbose = logger.logLevel <= .debug
        let now = settings.now()
        for record in records {
            if record.isDeadLetter {
                logger.log(.deadLetter, record.deadLetterFields)
            } else if let summary = record.summary ?? EventSummary(reading: record), summary.status == .unknown,
                !summary.isRepeat
            {
                logger.log(.sendUnknown, record.decisionFields(at: now))
            } else if isVerbose {
                logger.log(.decisionPublished, record.decisionFields(at: now))
            }
        }
    }
}
