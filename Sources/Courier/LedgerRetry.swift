// SPDX-License-Identifier: Apache-2.0

import Logging
import Logs
import ServiceLifecycle
import Synchronization
import Verification

/// Repeats ledger operations while the database is away, and tells in the log that it is, and when it is back.
///
/// Every operation of the ledger may be repeated, so an answer lost with the connection is no special case.
///
/// An outage is over for a stage when that stage itself succeeds: with a full disk, reading goes on and writing does not.
final class LedgerRetry: Sendable {
    private struct Outage {
        var notice = OutageNotice()

        /// The newest failure of each stage that has not succeeded since.
        var failures: [Progress.Stage: ContinuousClock.Instant] = [:]

        /// Forgets a stage's failure, and those of stages that have given up and had nothing to do since; true when that
        /// ends the outage.
        mutating func succeeded(_ stage: Progress.Stage, at now: ContinuousClock.Instant) -> Bool {
            failures[stage] = nil
            failures = failures.filter { $0.value + LedgerRetry.longestAttempt > now }
            return failures.isEmpty && notice.succeeded()
        }
    }

    /// The time in which a stage that still tries fails again.
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

    /// False while a stage waits for the database.
    var isAnswered: Bool { outage.withLock(\.failures.isEmpty) }

    /// The time within which a failing operation is retried.
    enum Span {
        /// It is tried once: its stage comes back to it by itself.
        case once
        case untilStopped

        /// For what only this worker knows, however long the database or a lock keeps it.
        case untilCancelled

        /// For what others take over from then on, such as at the end of a lease.
        case until(ContinuousClock.Instant)

        fileprivate var goesOn: Bool {
            switch self {
            case .once: false
            case .untilStopped: !Task.isShuttingDownGracefully
            case .untilCancelled: true
            case .until(let end): ContinuousClock.now < end
            }
        }
    }

    /// Tries an operation and repeats it when it fails; nil when it has not succeeded in its span.
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
                guard !Task.isCancelled, span.goesOn else { return nil }
                // Nothing tells when a database is back; a cancelled sleep ends at once, and one more try is the last.
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

    func noteUnrecordable(_ record: InboundRecord, _ stage: Progress.Stage) {
        logger.log(
            .postgresUnrecordable,
            [
                .stage: .text(stage.rawValue), .topic: .text(record.topic),
                .partition: LogValue(Int(record.partition)), .offset: .integer(record.offset),
            ]
        )
    }

    private func noteSuccess(_ stage: Progress.Stage) {
        guard outage.withLock({ $0.succeeded(stage, at: .now) }) else { return }
        logger.log(.postgresRecovered, [.stage: .text(stage.rawValue)])
    }
}

extension LedgerRetry {
    /// Records a batch of records in one transaction; nil when the worker stops before.
    ///
    /// What the database can never take is halved until the record at fault is alone, and `record` is told to make a
    /// dead letter of that one: it neither stops its partition nor takes others with it. What takes too long is halved,
    /// too. What meets a lock of another transaction is tried again whole, unless `record` returns a record alone that does
    /// (`halvingLocked`).
    func recordAll<Value: Sendable>(
        _ records: [InboundRecord],
        _ stage: Progress.Stage,
        halvingLocked: Bool = false,
        _ record: @Sendable ([InboundRecord], DeadLetterReason?) async throws -> Recorded<Value>
    ) async -> [Recorded<Value>]? {
        let outcome = await run(stage, .untilStopped) { () async throws -> Recorded<Value>? in
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

    /// The value of work on a batch; nil where the database can never take all of it, or more than one in the time of a
    /// statement or behind a lock: halves of it may do.
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
        _ record: @Sendable ([InboundRecord], DeadLetterReason?) async throws -> Recorded<Value>
    ) async -> [Recorded<Value>]? {
        for record in records { noteUnrecordable(record, stage) }
        let recorded = await run(stage, .untilStopped) { try await record(records, .unrecordable) }
        return recorded.map { [$0] }
    }
}
