// SPDX-License-Identifier: Apache-2.0

import Logging
import Verification

/// The objects that every stage uses.
final class StageContext: Sendable {
    let settings: CourierSettings
    let ledger: any Ledger
    let retry: LedgerRetry
    let progress: Progress
    let statistics: Statistics
    let logger: Logger

    let inFlight: InFlight

    /// The records that stages pass on to `Publish`.
    ///
    /// Beyond its limit, `Publish` reads records from the table, where they are stored anyway.
    let outbox: BatchQueue<OutboxRecord>

    init(ledger: any Ledger, settings: CourierSettings, statistics: Statistics, logger: Logger) {
        self.settings = settings
        self.ledger = ledger
        self.statistics = statistics
        self.logger = logger
        progress = Progress()
        retry = LedgerRetry(progress: progress, statistics: statistics, logger: logger)
        inFlight = InFlight(limit: settings.maxInFlight)
        outbox = BatchQueue(limit: 40 * settings.batchSize) { $0.weight }
    }
}
