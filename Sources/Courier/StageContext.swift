// SPDX-License-Identifier: Apache-2.0

import Logging
import Verification

/// The things that every stage works with.
final class StageContext: Sendable {
    let settings: CourierSettings
    let ledger: any Ledger
    let retry: LedgerRetry
    let progress: Progress
    let statistics: Statistics
    let logger: Logger

    /// The sends that the worker holds.
    let inFlight: InFlight

    /// The records that stages leave for `Publish`.
    ///
    /// Beyond its limit `Publish` takes records from the table, where they are anyway.
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
