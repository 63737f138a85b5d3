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
/// before it in its stream. What a partition or a topic has no room for is left in the table until it takes records again.
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

        /// Records of a stream are leased to this worker, and nobody publishes them.
        case left(Unacknowledged.Left)

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
                    sources.addTask { await catchUp() }
                    let batches = context.outbox.batches(of: 2 * context.settings.batchSize) {
                        context.inFlight.gathering(upTo: 10)
                    }
                    for await batch in batches { await publish(batch) }
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
    private func publish(_ records: [OutboxRecord]) async {
        let beginning = unacknowledged.begin(
            records,
            to: { sink.destination(of: $0) },
            until: .now + context.settings.lease / 2
        )
        endings.append(beginning.left.map { .left($0) })
        await give(beginning.first)
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
            var left: [Unacknowledged.Left] = []
            for answer in batch {
                let continuation = unacknowledged.end(answer.record, Self.outcome(answer.failure), goesOn: goesOn)
                if let record = continuation.next { next.append(record) }
                if let stream = continuation.left { left.append(stream) }
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

    private static func outcome(_ failure: (any Error)?) -> Unacknowledged.Outcome {
        guard let failure else { return .delivered }
        guard let error = failure as? KafkaError, !error.isOfRecord else { return .refused }
        return .failed
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
            var left: [Unacknowledged.Left] = []
            var isLookDue = false
            for ending in batch {
                switch ending {
                case .published(let record): published.append(record)
                case .left(let stream): left.append(stream)
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

    /// Shortens the leases on what the broker did not take, so that it goes soon after the topic takes records again, and
    /// not when a lease is over.
    private func giveBack(_ left: [Unacknowledged.Left]) async {
        // Of a stream that was taken over again meanwhile the rest is under way.
        let left = left.filter { !unacknowledged.contains($0.record.stream) }
        for (pause, left) in Dictionary(grouping: left, by: \.pause) {
            let isDone = await context.retry.run(.catchUp, .once) {
                try await context.ledger.giveBack(left.map(\.record), after: pause)
                return true
            }
            if isDone == true { unacknowledged.leave(left) }
        }
    }

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

    /// Publishes what is in the table and nobody holds, apart from what stages hand over: neither waits for the other.
    private func catchUp() async {
        var lastLook = ContinuousClock.now - DestinationRoom.probePause
        for await _ in look {
            var isMore = true
            while isMore, !Task.isStopping, hasRoom {
                let isSilent = unacknowledged.isSilent()
                // A look now and then is enough for probes.
                if isSilent, .now < lastLook + DestinationRoom.probePause { break }
                lastLook = .now
                isMore = await context.progress.during(.catchUp) {
                    let isRecalled = await recall()
                    let records =
                        await context.retry.run(.catchUp, .once) { try await context.ledger.sweepOutbox() } ?? []
                    await publish(records)
                    let weight = records.reduce(0) { $0 + $1.weight }
                    return !isSilent && (isRecalled || weight * 2 > context.settings.batchSize)
                }
            }
        }
    }

    /// Lets a look find records that were left in the table while their destination was stuck; true when there are some.
    ///
    /// As many as a look takes: what became due before goes first.
    private func recall() async -> Bool {
        let streams = unacknowledged.recall(context.settings.batchSize)
        guard !streams.isEmpty else { return false }
        _ = await context.retry.run(.catchUp, .once) {
            try await context.ledger.recall(streams, within: DestinationRoom.longestPause)
        }
        return true
    }

    /// Whether there may be a look.
    ///
    /// While much that was handed over waits for its turn there is none: its leases may be over, and it would be
    /// published twice.
    private var hasRoom: Bool { context.outbox.weight < context.settings.batchSize }
}
