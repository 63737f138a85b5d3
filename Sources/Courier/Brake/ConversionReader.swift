// SPDX-License-Identifier: Apache-2.0

import Formats
package import Logging
import Logs
import ServiceLifecycle
package import Verification

/// The service that reads conversions for the whole fleet: every worker runs it, and one at a time is the reader.
package struct ConversionReader: Service {
    private let ledger: any BrakeLedger
    private let routes: (any RouteLedger)?
    private let policies: PolicySource
    private let logger: Logger
    private let isOutage: @Sendable () -> Bool
    private let interval: Duration
    private let feedback: FeedbackReading?

    /// Makes a reader; `isOutage` is true during an outage that the worker has reported, and `feedback` gets the messages
    /// whose codes were approved.
    package init(
        ledger: any BrakeLedger,
        routes: (any RouteLedger)? = nil,
        policies: PolicySource,
        logger: Logger,
        every interval: Duration = .seconds(2),
        feedback: (ledger: any FeedbackLedger, desk: FeedbackDesk)? = nil,
        isOutage: @escaping @Sendable () -> Bool = { false }
    ) {
        self.ledger = ledger
        self.routes = routes
        self.policies = policies
        self.logger = logger
        self.isOutage = isOutage
        self.interval = interval
        self.feedback = feedback.flatMap { ledger, desk in
            desk.names.isEmpty ? nil : FeedbackReading(ledger: ledger, desk: desk)
        }
    }

    package func run() async {
        var reading = ConversionReading(
            ledger: ledger,
            routes: routes,
            policies: policies,
            logger: logger,
            feedback: feedback
        )
        var outage = BrakeOutage("conversions", isReported: isOutage, logger: logger)
        while !Task.isStopping {
            let next = ContinuousClock.now + interval
            await outage.note { try await reading.round() }
            await Task.pause(until: next)
        }
        await outage.note { try await reading.resign() }
    }
}
