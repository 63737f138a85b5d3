// SPDX-License-Identifier: Apache-2.0

import Formats
import Logging

// MARK: - The toll-fraud brake

extension LoggedEvent {
    package static let brakeReader = LoggedEvent(
        "brake.reader",
        .notice,
        "this worker reads conversions for the fleet"
    )
    package static let brakeTripped = LoggedEvent(
        "brake.tripped",
        .warning,
        "too few people approve their codes: the scope is blocked",
        scopeFields + [.expected, .observed, .trips, .until, .isAsleep],
        throttledBy: [.tenant, .scope]
    )
    package static let brakeHalfOpen = LoggedEvent(
        "brake.half_open",
        .info,
        "a blocked scope lets a few requests through as probes",
        scopeFields,
        throttledBy: [.tenant, .scope]
    )
    package static let brakeEnded = LoggedEvent(
        "brake.ended",
        .notice,
        "a scope is no longer blocked",
        scopeFields + [.probes, .probesApproved],
        throttledBy: [.tenant, .scope]
    )
    package static let brakeAsleep = LoggedEvent(
        "brake.asleep",
        .warning,
        "a tenant approves too few codes to judge: its blocks refuse nobody",
        [.tenant, .approvals],
        again: .seconds(3600)
    )
    package static let conversionLow = LoggedEvent(
        "conversion.low",
        .warning,
        "a region lacks approvals without more traffic: look at its providers",
        [.tenant, .region, .expected, .observed],
        again: .seconds(3600)
    )

    private static let scopeFields: [LogField] = [.tenant, .scope, .region, .brakeKey]
}
