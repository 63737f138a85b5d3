// SPDX-License-Identifier: Apache-2.0

import KafkaClient
import Logging
import Logs
import ServiceLifecycle
import Verification

/// The fourth stage: records of the outbox are produced, and forgotten once the broker has them.
///
/// Most are handed over by the stage that wrote them. What waited behind an earlier event of its verification, or was
/// left by a dead worker, is taken from the table: see `catchUp`. None waits for another's answer but for that of the one
/// before it in its stream: a partition that takes nothing holds up its own.
struct Publish: Service {
    let context: StageContext
    let sink: any RecordSink
    let unacknowledged: Unacknowledged

    /// What the broker says of records.
    private let answers = BatchQueue<Answer>()

    private struct Answer {
        let record: OutboxRecord
        let failure: (any Error)?

        /// When the broker was given it.
        let start: ContinuousClock.Instant
    }

    /// The answers that the table is to be told of.
    private let endings = BatchQueue<Ending>()

    private enum Ending {
        /// The broker has a record that the table still holds.
        case published(OutboxRecord)

        /// Records of this one's stream are leased to this worker, and nobody is at them.
        case left(OutboxRecord)

        /// Time has passed: what has waited for others of its transaction may wait no longer.
        case time
    }

    /// When the table is to be looked at.
    private let look = Signal()

    /// Ends when the stage before has finished its queue and everything in it is published or left in the table.
    func run() async throws {
        await withDiscardingTaskGroup { group in
            group.addTask { await end() }
            await withDiscardingTaskGroup { group in
                group.addTask { await settle() }
                await withDiscardingTaskGroup { sources in
                    sources.addTask { await tick() }
                    sources.addTask { await wake() }
                    sources.addTask { await catchUp() }
                    let batches = context.outbox.batches(of: 2 * context.settings.batchSize) {
                        context.inFlight.gathering(upTo: 10)
                    }
                    var rest = batches.makeAsyncIterator()
                    // Until there is room they stay in the queue, where they count.
                    while true {
                        await unacknowledged.waitForRoom()
                        guard let batch = await rest.next() else { break }
                        await publish(batch, .handedOver)
                    }
                }
                await unacknowledged.waitForAll()
                answers.finish()
            }
            endings.finish()
        }
        await waitForShutdown()
    }

    /// Gives the broker of each stream the first record; what follows goes when the broker has that.
    ///
    /// After half of a lease nothing follows any more: it is taken over once more when the lease is over, and until
    /// then it is this worker's.
    private func publish(_ records: [OutboxRecord], _ way: Unacknowledged.Way) async {
        await give(unacknowledged.begin(records, by: way, until: .now + context.settings.lease / 2))
    }

    private func give(_ records: [OutboxRecord]) async {
        guard !records.isEmpty else { return }
        context.progress.begin(.publish, count: records.count)
        let start = ContinuousClock.now
        await sink.publish(records) { [answers] record, failure in
            answers.append([Answer(record: record, failure: failure, start: start)])
        }
    }

    /// Takes the broker's answers, and gives it what follows on what it has.
    private func settle() async {
        for await batch in answers.batches(of: 2 * context.settings.batchSize) {
            let goesOn = !Task.isStopping
            var next: [OutboxRecord] = []
            var left: [OutboxRecord] = []
            for answer in batch {
                let isDelivered = answer.failure == nil
                let continuation = unacknowledged.end(answer.record, isDelivered: isDelivered, goesOn: goesOn)
                if let record = continuation.next { next.append(record) }
                if continuation.leavesSome { left.append(answer.record) }
            }
            context.progress.end(.publish, count: batch.count)
            note(failures: batch.compactMap(\.failure))
            let delivered = batch.filter { $0.failure == nil }
            for (start, part) in Dictionary(grouping: delivered, by: \.start) {
                context.statistics.notePublished(part.map(\.record), since: start, at: context.settings.now())
            }
            note(delivered: delivered.map(\.record))
            endings.append(left.map { .left($0) })
            await give(next)
        }
    }

    private func note(failures: [any Error]) {
        guard let first = failures.first else { return }
        context.statistics.noteFailure(of: .kafka, count: failures.count)
        // They stay in the outbox, and are taken from there soon.
        let fields = (first as? KafkaError)?.logFields ?? [.error: LogValue(first)]
        context.logger.log(.publishFailed, fields.merging([.records: LogValue(failures.count)]) { $1 })
    }

    private func note(delivered: [OutboxRecord]) {
        guard !delivered.isEmpty else { return }
        report(delivered)
        context.settings.observe(.publishDelivered)
        endings.append(delivered.map { .published($0) })
    }

    /// Tells the table what has become of records, many together.
    private func end() async {
        // Later events of a verification wait until its earlier ones are out of the table.
        let moment = { @Sendable in context.inFlight.gathering(upTo: 10) }
        for await batch in endings.batches(of: 2 * context.settings.batchSize, after: moment) {
            var published: [OutboxRecord] = []
            var left: [OutboxRecord] = []
            var isLookDue = false
            for ending in batch {
                switch ending {
                case .published(let record): published.append(record)
                case .left(let record): left.append(record)
                case .time: isLookDue = true
                }
            }
            if !published.isEmpty || isLookDue { await forget(published) }
            await giveBack(left)
        }
    }

    /// Deletes what is published, for which no event waits.
    ///
    /// An event that waits behind one of them may go now, unless that is behind a stream's records that are still on their
    /// way.
    private func forget(_ records: [OutboxRecord]) async {
        await context.progress.during(.forget) {
            let doOthersWait = await context.retry.run(.forget, .until(.now + context.settings.lease)) {
                try await context.ledger.published(records)
            }
            guard let doOthersWait else { return }
            if !records.isEmpty { context.settings.observe(.publishForgotten) }
            let isOver = records.isEmpty || records.contains { !unacknowledged.contains($0.stream) }
            if doOthersWait, isOver { look.send() }
        }
    }

    /// Ends the leases on what the broker did not take, so that it goes soon after the topic takes records again, and
    /// not when a lease is over.
    private func giveBack(_ records: [OutboxRecord]) async {
        // Of a stream that was taken over again meanwhile somebody is at the rest.
        let records = records.filter { !unacknowledged.contains($0.stream) }
        guard !records.isEmpty else { return }
        _ = await context.retry.run(.catchUp, .once) {
            try await context.ledger.giveBack(records, after: Self.refusalPause)
        }
    }

    /// The time between two attempts at what a topic refuses: short enough for events to follow its recovery within 5 s.
    private static let refusalPause = Duration.seconds(2)

    /// A line for each event at `debug`, and one at `warning` for what an operator has to know of.
    private func report(_ records: [OutboxRecord]) {
        let isVerbose = context.logger.logLevel <= .debug
        let now = context.settings.now()
        for record in records {
            if record.isDeadLetter {
                context.logger.log(.deadLetter, record.deadLetterFields)
            } else if let summary = record.summary ?? EventSummary(reading: record), summary.status == .unknown,
                !summary.isRepeat
            {
                context.logger.log(.sendUnknown, record.decisionFields(at: now))
            } else if isVerbose {
                context.logger.log(.decisionPublished, record.decisionFields(at: now))
            }
        }
    }
}

// MARK: - What is left in the table

extension Publish {
    /// Lets the table be looked at once an interval: what a dead worker left becomes due by time alone.
    private func tick() async {
        while !Task.isStopping {
            look.send()
            endings.append([.time])
            await Task.pause(until: .now + context.settings.sweepInterval)
        }
        look.finish()
    }

    /// Records that the broker does not answer for make room by time alone.
    private func wake() async {
        while !Task.isStopping {
            await Task.pause(until: .now + .milliseconds(100))
            unacknowledged.wake()
        }
    }

    /// Publishes what is in the table and nobody holds, apart from what stages hand over: neither waits for the other.
    private func catchUp() async {
        for await _ in look {
            var isMore = true
            while isMore, !Task.isStopping, hasRoom {
                isMore = await context.progress.during(.catchUp) {
                    let records =
                        await context.retry.run(.catchUp, .once) { try await context.ledger.sweepOutbox() } ?? []
                    await publish(records, .takenOver)
                    return records.count * 2 > context.settings.batchSize
                }
            }
        }
    }

    /// Whether there may be a look.
    ///
    /// While much that was handed over waits for its turn there is none: its leases may be over, and it would be
    /// published twice.
    private var hasRoom: Bool {
        context.outbox.weight < context.settings.batchSize && unacknowledged.hasRoom(for: .takenOver)
    }
}
