// SPDX-License-Identifier: Apache-2.0

import KafkaClient
import Logging
import Logs
import Verification

/// The fourth stage: produces the outbox's records, and deletes each once the broker has acknowledged it.
///
/// The stage that wrote a record usually passes it on in memory. `CatchUp` reads the others from the table: records
/// that waited behind an earlier event of their verification, and records left by a dead worker. A record waits only
/// for the acknowledgement of its predecessor in the stream. Records for a stuck partition or topic stay in the table
/// until it accepts records again.
struct Publish: Sendable {
    let context: StageContext
    let sink: any RecordSink

    /// Its limit is far below that of the producer's own queue, which therefore never fills up.
    var unacknowledged = Unacknowledged(limit: 10_000)

    let answers = BatchQueue<Answer>()

    /// The broker's answer to a record.
    struct Answer {
        let record: OutboxRecord
        let failure: (any Error)?

        /// The time at which the record was given to the producer.
        let start: ContinuousClock.Instant
    }

    let endings = BatchQueue<Ending>()

    /// A change to write into the table.
    enum Ending {
        /// The broker has acknowledged a record that is still in the table.
        case published(OutboxRecord)

        /// Records of a stream are leased to this worker, but it does not publish them.
        case left(Unacknowledged.Left)

        /// A timer: records that waited behind others of their transaction may be due now.
        case time
    }

    /// Wakes `CatchUp` to read the table.
    let recheck = Signal()

    /// Wakes `CatchUp` once an interval, since the expiry of a dead worker's lease sends no signal.
    func tick() {
        recheck.send()
        endings.append([.time])
    }

    // MARK: - To the broker

    /// Produces the first record of each stream; each following one is produced when its predecessor is acknowledged.
    ///
    /// After half of a lease no further record is produced. The rest stays leased to this worker until the lease
    /// expires, and is claimed again after that.
    func produce(_ records: [OutboxRecord]) async {
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
    ///
    /// A stopping worker produces no next records, and leaves them in the table.
    func settle(_ batch: [Answer]) async {
        let continues = !context.outbox.isFinished
        var next: [OutboxRecord] = []
        var left: [Unacknowledged.Left] = []
        for answer in batch {
            let continuation = unacknowledged.end(answer.record, Self.outcome(answer.failure), continues: continues)
            if let record = continuation.next { next.append(record) }
            if let stream = continuation.left { left.append(stream) }
        }
        context.progress.end(.publish, count: batch.count)
        note(failures: batch.compactMap(\.failure))
        let delivered = batch.filter { $0.failure == nil }
        for (start, part) in Dictionary(grouping: delivered, by: \.start) {
            context.statistics.notePublished(part.map(\.record), since: start, at: context.now())
        }
        note(delivered: delivered.map(\.record))
        endings.append(left.map { .left($0) })
        await give(next)
    }

    /// Waits for the broker's last answers.
    func allAnswered() async { await unacknowledged.waitForAll() }

    private static func outcome(_ failure: (any Error)?) -> Unacknowledged.Outcome {
        guard let failure else { return .delivered }
        guard let error = failure as? KafkaError, !error.isOfRecord else { return .refused }
        return .failed
    }

    private func note(failures: [any Error]) {
        guard let first = failures.first else { return }
        context.statistics.noteFailure(of: .kafka, count: failures.count)
        // The records stay in the outbox, and `CatchUp` retries them soon.
        let fields = (first as? KafkaError)?.logFields ?? [.error: LogValue(first)]
        context.logger.log(.publishFailed, fields.merging([.records: LogValue(failures.count)]) { $1 })
    }

    private func note(delivered: [OutboxRecord]) {
        guard !delivered.isEmpty else { return }
        report(delivered)
        context.observe(.publishDelivered)
        endings.append(delivered.map { .published($0) })
    }

    // MARK: - Into the table

    /// Writes the results of records into the table, many in one statement.
    func forget(_ batch: [Ending]) async {
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
        if !published.isEmpty || isLookDue { await context.progress.during(.forget) { await delete(published) } }
        await release(left)
    }

    /// Deletes published records from the table.
    ///
    /// Wakes `CatchUp` when an event waits behind one of them, unless each stream still has records in flight.
    private func delete(_ records: [OutboxRecord]) async {
        let doOthersWait = await context.retry.run(.forget, .until(.now + context.settings.lease)) {
            try await context.ledger.published(records)
        }
        guard let doOthersWait else { return }
        if !records.isEmpty { context.observe(.publishForgotten) }
        let isOver = records.isEmpty || records.contains { !unacknowledged.contains($0.stream) }
        if doOthersWait, isOver { recheck.send() }
    }

    /// Shortens the leases of records that the broker did not accept, so that they are retried soon after the topic
    /// recovers and not only when the lease expires.
    private func release(_ left: [Unacknowledged.Left]) async {
        // Streams that were claimed again meanwhile are in flight.
        let left = left.filter { !unacknowledged.contains($0.record.stream) }
        for (pause, left) in Dictionary(grouping: left, by: \.pause) {
            let isDone = await context.retry.run(.catchUp, .once) {
                try await context.ledger.release(left.map(\.record), after: pause)
                return true
            }
            if isDone == true { unacknowledged.leave(left) }
        }
    }

    /// Logs each event at `debug`, and at `warning` where an operator must know of it.
    private func report(_ records: [OutboxRecord]) {
        let isVerbose = context.logger.logLevel <= .debug
        let now = context.now()
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
