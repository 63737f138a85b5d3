// SPDX-License-Identifier: Apache-2.0

import Formats
package import Logging
import Logs
import ServiceLifecycle
package import Verification

/// Brings the shares of adaptive routes from the database to the worker's router.
///
/// During an outage the last shares stay in force; without any, providers share alike.
package struct RouteWatch: Service {
    private let ledger: any RouteLedger
    private let policies: PolicySource
    private let source: RouteShareSource
    private let logger: Logger
    private let interval: Duration
    private let isOutage: @Sendable () -> Bool

    /// Makes a watch; `isOutage` is true during an outage that the worker has reported.
    package init(
        ledger: any RouteLedger,
        policies: PolicySource,
        source: RouteShareSource,
        logger: Logger,
        every interval: Duration = .seconds(2),
        isOutage: @escaping @Sendable () -> Bool = { false }
    ) {
        self.ledger = ledger
        self.policies = policies
        self.source = source
        self.logger = logger
        self.interval = interval
        self.isOutage = isOutage
    }

    package func run() async {
        var outage = BrakeOutage("routes", isReported: isOutage, logger: logger)
        var known: Int64?
        while !Task.isStopping {
            let next = ContinuousClock.now + interval
            if policies.current.tenants.values.contains(where: \.routes.hasAdaptive) {
                await outage.note {
                    // Read the version first: a change between the two reads is then read again.
                    let version = try await ledger.routesVersion()
                    if version == known { return }
                    source.replace(with: try await ledger.routeShares())
                    known = version
                }
            }
            await Task.pause(until: next)
        }
    }
}
