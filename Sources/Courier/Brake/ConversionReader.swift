// SPDX-License-Identifier: Apache-2.0

import Formats
package import Logging
import Logs
import ServiceLifecycle
package import Verification

/// The service that reads conversions for the whole fleet, in every worker; one of them is the reader.
package struct ConversionReader: Service {
    private let ledger: any BrakeLedger
    private let policies: PolicySource
    private let logger: Logger
    private let interval: Duration

    package init(
        ledger: any BrakeLedger,
        policies: PolicySource,
        logger: Logger,
        every interval: Duration = .seconds(2)
    ) {
        self.ledger = ledger
        self.policies = policies
        self.logger = logger
        self.interval = interval
    }

    package func run() async {
        var reading = ConversionReading(ledger: ledger, policies: policies, logger: logger)
        var outage = OutageLine("conversions", logger)
        while !Task.isStopping {
            let next = ContinuousClock.now + interval
            await outage.note { try await reading.round() }
            await Task.pause(until: next)
        }
        await outage.note { try await reading.resign() }
    }
}

/// Logs an outage of the database and its end, for a service that is not a part of the pipeline.
///
/// The pipeline reports the worker's own outages to its supervisor; the brake goes on with what it knows.
struct OutageLine {
    private let stage: String
    private let logger: Logger
    private var notice = OutageNotice()

    init(_ stage: String, _ logger: Logger) {
        (self.stage, self.logger) = (stage, logger)
    }

    /// Performs an operation once; true if it succeeded.
    @discardableResult
    mutating func note(_ operation: () async throws -> Void) async -> Bool {
        do {
            try await operation()
        } catch {
            if notice.failed() { logger.log(.postgresFailing, [.stage: .text(stage), .error: LogValue(error)]) }
            return false
        }
        if notice.succeeded() { logger.log(.postgresRecovered, [.stage: .text(stage)]) }
        return true
    }
}
