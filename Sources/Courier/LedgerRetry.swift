// SPDX-License-Identifier: Apache-2.0

import Formats
import Logging
import Logs
import ServiceLifecycle
import Synchronization
import Verification

/// Retries ledger operations during a database outage, and logs the outage and the recovery.
///
/// Every operation of the ledger is idempotent, so an answer lost with the connection needs no special case.
///
/// An outage ends for a stage only when the same stage succeeds: with a full disk reads succeed and writes fail.
final class LedgerRetry: Sendable {
    private struct Outage {
        var notice = OutageNotice()

        /// The latest failure of each stage that has not succeeded since.
        var failures: [Progress.Stage: ContinuousClock.Instant] = [:]

        /// Clears a stage's failure, and failures of stages that stopped retrying; true when that ends the outage.
        mutating func succeeded(_ stage: Progress.Stage, at now: ContinuousClock.Instant) -> Bool {
            failures[stage] = nil
            failures = failures.filter { $0.value + LedgerRetry.longestAttempt > now }
            return failures.isEmpty && notice.succeeded()
        }
    }

    /// The maximum time from one failure of a retrying stage to its next one.
    private static let longestAttempt = OutageNotice.interval

    private let outage = Mutex(Outage())
    private let progress: Progress
    private let statistics: Statistics
    private let logger: Logger

    init(progress: Progress, statistics: Statistics, logger: Logger) {
        self.progress = progress
        self.statistics = statistics
        self.logger = logger
    }

    /// False while an operation of some stage fails.
    var isAnswered: Bool { outage.withLock(\.failures.isEmpty) }

    /// The limit of an operation's retries.
    enum Span {
        /// One attempt: the stage repeats the operation at its next round.
        case once
        case untilStopped

        /// For results that only this worker has, however long an outage or a lock lasts.
        case untilCancelled

        /// Until a time from which other workers take over, such as the end of a lease.
        case until(ContinuousClock.Instant)

        fileprivate var continues: Bool {
            switch self {
            case .once: false
            case .untilStopped: !Task.isShuttingDownGracefully
            case .untilCancelled: true
            case .until(let end): ContinuousClock.now < end
            }
        }
    }

    /// Runs an operation, with retries; nil when it has not succeeded within its span.
    func run<Value: Sendable>(
        _ stage: Progress.Stage,
        _ span: Span,
        _ operation: @Sendable () async throws -> Value
    ) async -> Value? {
        var delay = Duration.milliseconds(50)
        while true {
            do {
                let value = try await progress.running(stage, operation)
                noteSuccess(stage)
                return value
            } catch {
                noteFailure(stage, error)
                guard !Task.isCancelled, span.continues else { return nil }
                // No notification says that a database is back, so poll. A cancelled sleep ends at once, and one
                // attempt follows.
                try? await Task.sleep(for: delay * Double.random(in: 0.5...1))
                delay = min(delay * 2, .seconds(2))
            }
        }
    }

    private func noteFailure(_ stage: Progress.Stage, _ error: any Error) {
        statistics.noteFailure(of: .postgres)
        let isDue = outage.withLock { outage in
            outage.failures[stage] = .now
            return outage.notice.failed()
        }
        guard isDue else { return }
        logger.log(.postgresFailing, [.stage: .text(stage.rawValue), .error: LogValue(error)])
    }

    private func noteSuccess(_ stage: Progress.Stage) {
        guard outage.withLock({ $0.succeeded(stage, at: .now) }) else { return }
        logger.log(.postgresRecovered, [.stage: .text(stage.rawValue)])
    }
}

extension LedgerRetry {
    /// Records a batch of records in one transaction; nil when the worker stops first.
    ///
    /// A batch that the database can never accept is halved until the faulty record is alone. `record` then gets a
    /// reason to make a dead letter of it, so it blocks neither its partition nor other records. A batch that exceeds
    /// the statement timeout is halved, too. A batch that meets a lock of another transaction is retried whole, unless
    /// `halvingLocked` is set and `record` returns a single locked record as waiting.
    func recordAll<Value: Sendable>(
        _ records: [InboundRecord],
        _ stage: Progress.Stage,
        halvingLocked: Bool = false,
        _ record: @Sendable ([InboundRecord], DeadLetterReason?) async throws -> Value
    ) async -> [Value]? {
        let outcome = await run(stage, .untilStopped) { () async throws -> Value? in
            try await Self.whole(records.count, halvingLocked: halvingLocked) { try await record(records, nil) }
        }
        guard let outcome else { return nil }
        if let recorded = outcome { return [recorded] }
        guard records.count > 1 else { return await setAside(records, stage, record) }
        let middle = records.count / 2
        let (start, end) = (Array(records[..<middle]), Array(records[middle...]))
        guard let first = await recordAll(start, stage, halvingLocked: halvingLocked, record),
            let second = await recordAll(end, stage, halvingLocked: halvingLocked, record)
        else { return nil }
        return first + second
    }

    /// Runs work on a batch; nil when the caller must try halves.
    ///
    /// Halves may succeed where the database can never accept some record of the batch, or where a batch of several
    /// exceeds the statement timeout or meets a lock.
    static func whole<Value: Sendable>(
        _ count: Int,
        halvingLocked: Bool = false,
        _ work: @Sendable () async throws -> Value
    ) async throws -> Value? {
        do {
            return try await work()
        } catch {
            let isTooMuch = error.isBatchTimeout || halvingLocked && error.isLockConflict
            if error is UnrecordableBatch || isTooMuch && count > 1 { return nil }
            throw error
        }
    }

    private func setAside<Value: Sendable>(
        _ records: [InboundRecord],
        _ stage: Progress.Stage,
        _ record: @Sendable ([InboundRecord], DeadLetterReason?) async throws -> Value
    ) async -> [Value]? {
        for record in records {
            logger.log(
                .postgresUnrecordable,
                [
                    .stage: .text(stage.rawValue), .topic: .text(record.topic),
                    .partition: LogValue(Int(record.partition)), .offset: .integer(record.offset),
                ]
            )
        }
        let recorded = await run(stage, .untilStopped) { try await record(records, .unrecordable) }
        return recorded.map { [$0] }
    }
}
