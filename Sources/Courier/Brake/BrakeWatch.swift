// SPDX-License-Identifier: Apache-2.0

import Formats
package import Logging
import Logs
import ServiceLifecycle
package import Verification

/// Brings the brake's board from the database to the intake, and the counts of stopped requests back.
///
/// During an outage the last board stays in force: each of its blocks has an end.
package struct BrakeWatch: Service {
    /// The time after which the board is read again although nothing has changed.
    private static let longestInterval = Duration.seconds(60)

    private let ledger: any BrakeLedger
    private let source: BrakeSource
    private let logger: Logger
    private let interval: Duration
    private let countInterval: Duration
    private let isOutage: @Sendable () -> Bool
    private let patience: Duration

    /// Makes a watch; `isOutage` is true during an outage that the worker has reported.
    package init(
        ledger: any BrakeLedger,
        source: BrakeSource,
        logger: Logger,
        every interval: Duration = .seconds(2),
        countsEvery countInterval: Duration = .seconds(10),
        isOutage: @escaping @Sendable () -> Bool = { false },
        patience: Duration = BrakeOutage.patience
    ) {
        self.ledger = ledger
        self.source = source
        self.logger = logger
        self.interval = interval
        self.countInterval = countInterval
        self.isOutage = isOutage
        self.patience = patience
    }

    package func run() async {
        var outage = BrakeOutage("brake", isReported: isOutage, patience: patience, logger: logger)
        var countOutage = BrakeOutage("brake counts", isReported: isOutage, patience: patience, logger: logger)
        var known: (version: Int64, readAt: ContinuousClock.Instant)?
        var countsAt = ContinuousClock.now + countInterval
        while !Task.isStopping {
            let now = ContinuousClock.now
            await outage.note {
                // The version first: a change in between is read again.
                let status = try await ledger.brakeStatus()
                source.setReaderLag(status.lag)
                if let known, known.version == status.version, now - known.readAt < Self.longestInterval { return }
                source.replace(with: try await ledger.brakeBoard())
                known = (status.version, now)
            }
            if countsAt <= now {
                await countOutage.note { try await count() }
                countsAt = now + countInterval
            }
            await Task.pause(until: now + interval)
        }
        await countOutage.note { try await count() }
    }

    private func count() async throws {
        let refusals = source.takeRefusals()
        do {
            try await ledger.add(refusals)
        } catch {
            source.note(refusals)
            throw error
        }
    }
}

/// Logs that a service of the brake cannot reach its tables, and the end of that.
///
/// An outage of the whole database is the pipeline's to report: it is logged once, and shown to the supervisor. The
/// brake goes on with what it knows, so a line is written only where the brake alone fails for a while.
package struct BrakeOutage {
    package static let patience = Duration.seconds(30)

    private let stage: String
    private let isReported: @Sendable () -> Bool
    private let patience: Duration
    private let logger: Logger
    private var notice = OutageNotice()
    private var since: ContinuousClock.Instant?

    init(
        _ stage: String,
        isReported: @escaping @Sendable () -> Bool,
        patience: Duration = BrakeOutage.patience,
        logger: Logger
    ) {
        self.stage = stage
        self.isReported = isReported
        self.patience = patience
        self.logger = logger
    }

    /// Performs an operation once.
    mutating func note(_ operation: () async throws -> Void) async {
        do {
            try await operation()
        } catch {
            let now = ContinuousClock.now
            let start = since ?? now
            since = start
            guard now - start >= patience, !isReported(), notice.failed(at: now) else { return }
            logger.log(.postgresFailing, [.stage: .text(stage), .error: LogValue(error)])
            return
        }
        since = nil
        if notice.succeeded() { logger.log(.postgresRecovered, [.stage: .text(stage)]) }
    }
}
