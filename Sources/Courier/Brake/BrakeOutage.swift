// SPDX-License-Identifier: Apache-2.0

import Formats
import Logging
import Logs

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
