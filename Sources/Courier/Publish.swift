// SPDX-License-Identifier: Apache-2.0

import KafkaClient
import Logging
import Logs
import ServiceLifecycle
import Verification

/// The fourth stage: produces the outbox's records, and deletes each once the broker has acknowledged it.
///
/// The stage that wrote a record usually passes it on in memory. `catchUp` reads the others from the table: records
/// that waited behind an earlier event of their verification, and records left by a dead worker. A record waits only
/// for the acknowledgement of its predecessor in the stream. Records for a partition or topic without room stay in the
/// table until it accepts records again.
struct Publish: Service {
    let context: StageContext
    let sink: any RecordSink
    let unacknowledged: Unacknowledged

    private let answers = BatchQueue<Answer>()

    private struct Answer {
        let record: OutboxRecord
        let failure: (any Error)?

        /// The time at which the record was given to the producer.
        let start: ContinuousClock.Instant
    }

    /// Changes to write into the table.
    private let endings = BatchQueue<Ending>()

    private enum Ending {
        /// The broker has acknowledged a record that is still in the table.
        case published(OutboxRecord)

        /// Records of a stream are leased to this worker, but it does not publish them.
        case left(Unacknowledged.Left)

        /// A timer: records that waited behind others of their transaction may be due now.
        case time
    }

    /// Wakes `catchUp` to read the table.
    private let look = Signal()

    /// Runs until the previous stage has finished the queue and every record is published or left in the table.
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

    /// Produces the first record of each stream; each following one is produced when its predecessor is acknowledged.
    ///
    /// After half of a lease no further record is produced. The rest stays leased to this worker until the lease
    /// expires, and is claimed again after that.
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

    /// Handles the broker's answers, and produces the next record of each stream.
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
        // The records stay in the outbox, and `catchUp` retries them soon.
        let fields = (first as? KafkaError)?.logFields ?? [.error: LogValue(first)]
        context.logger.log(.publishFailed, fields.merging([.records: LogValue(failures.count)]) { $1 })
    }

    private func note(delivered: [OutboxRecord]) {
        guard !delivered.isEmpty else { return }
        report(delivered)
        context.settings.observe(.publishDelivered)
        endings.append(delivered.map { .published($0) })
    }

    /// Writes the results of records into the table, many in one statement.
    private func end() async {
        // No pause while few sends are in flight: later events of a verification wait until its earlier ones are
        // deleted.
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

    /// Deletes published records from the table.
    ///
    /// Wakes `catchUp` when an event waits behind one of them, unless each stream still has records in flight.
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

    /// Shortens the leases of records that the broker did not accept, so that they are retried soon after the topic
    /// recovers and not only when the lease expires.
    private func giveBack(_ left: [Unacknowledged.Left]) async {
        // Streams that were claimed again meanwhile are in flight.
        let left = left.filter { !unacknowledged.contains($0.record.stream) }
        for (pause, left) in Dictionary(grouping: left, by: \.pause) {
            let isDone = await context.retry.run(.catchUp, .once) {
                try await context.ledger.giveBack(left.map(\.record), after: pause)
                return true
            }
            if isDone == true { unacknowledged.leave(left) }
        }
    }

    /// Logs each event at `debug`, and at `warning` where an operator must know of it.
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

// MARK: - Records left in the table

extension Publish {
    /// Wakes `catchUp` once an interval, since the expiry of a dead worker's lease sends no signal.
    private func tick() async {
        while !Task.isStopping {
            look.send()
            endings.append([.time])
            await Task.pause(until: .now + context.settings.sweepInterval)
        }
        look.finish()
    }

    /// Publishes the due records of the table that no worker holds, concurrently with the records passed on in memory.
    private func catchUp() async {
        var lastLook = ContinuousClock.now - DestinationRoom.probePause
        for await _ in look {
            var isMore = true
            while isMore, !Task.isStopping, hasRoom {
                let isSilent = unacknowledged.isSilent()
                // While a destination is stuck, one read per `probePause` is enough for its probes.
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

    /// Makes records due that were left in the table while their destination was stuck; true when there are some.
    ///
    /// At most one batch, since records that were due before have priority.
    private func recall() async -> Bool {
        let streams = unacknowledged.recall(context.settings.batchSize)
        guard !streams.isEmpty else { return false }
        _ = await context.retry.run(.catchUp, .once) {
            try await context.ledger.recall(streams, within: DestinationRoom.longestPause)
        }
        return true
    }

    /// True when the table may be read.
    ///
    /// False while many records wait in memory: their leases may expire, and reading the table would publish them
    /// twice.
    private var hasRoom: Bool { context.outbox.weight < context.settings.batchSize }
}
