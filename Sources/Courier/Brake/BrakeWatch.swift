// SPDX-License-Identifier: Apache-2.0

import Formats
package import Logging
import Logs
import ServiceLifecycle
package import Verification

/// Keeps the intake's copy of the brake's blocks current, and writes the counts of stopped requests to the database.
///
/// During an outage the last copy stays in force: each of its blocks has an end.
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
                // Read the version first: a change between the two reads is then read again.
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

/// Logs when a service of the brake cannot reach its tables, and when it can again.
///
/// The pipeline reports an outage of the whole database. So a line is written only if the brake alone fails for a
/// while.
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

    /// Runs an operation once; logs its failure when it has lasted, and the recovery.
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
