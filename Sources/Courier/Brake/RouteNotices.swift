// SPDX-License-Identifier: Apache-2.0

import Formats
import Logging
import Logs
import Verification

/// The log lines of adaptive routes, and when those that repeat are due.
struct RouteNotices {
    private struct Subject: Hashable {
        let tenant: String
        let place: SilentRoutes.Place
    }

    private static let silenceInterval = LoggedEvent.routeSilent.interval ?? SilentRoutes.Silence.shortest

    /// The time of each silence's last line.
    private var last: [Subject: Timestamp] = [:]

    /// Writes what a judgement has changed, and the silences without a line for a while.
    mutating func log(
        _ judgement: TenantRoutes.Judgement,
        of routes: TenantRoutes,
        at now: Timestamp,
        _ logger: Logger
    ) {
        last = last.filter { now - $0.value < Self.silenceInterval }
        for silence in judgement.silences { log(silence, at: now, logger) }
        for (tenant, silences) in routes.silences(at: now) {
            for (place, silence) in silences where last[Subject(tenant: tenant, place: place)] == nil {
                last[Subject(tenant: tenant, place: place)] = now
                var fields = Self.fields(tenant, place)
                fields[.until] = .text(silence.until.rfc3339)
                logger.log(.routeSilent, fields)
            }
        }
        for report in judgement.reports {
            for share in report.shares { Self.log(share, of: report.place, logger) }
        }
    }

    private mutating func log(_ silence: TenantRoutes.TenantSilence, at now: Timestamp, _ logger: Logger) {
        let change = silence.change
        var fields = Self.fields(silence.tenant, change.place)
        fields[.expected] = LogValue(Int(change.shortfall.expected.rounded()))
        fields[.observed] = LogValue(change.shortfall.observed)
        guard let end = change.silence?.until else {
            last[Subject(tenant: silence.tenant, place: change.place)] = nil
            logger.log(.routeRecovered, fields)
            return
        }
        last[Subject(tenant: silence.tenant, place: change.place)] = now
        fields[.until] = .text(end.rfc3339)
        logger.log(.routeSilent, fields)
    }

    private static func fields(_ tenant: String, _ place: SilentRoutes.Place) -> [LogField: LogValue] {
        [.tenant: .text(tenant), .region: .text(place.region), .provider: .text(place.provider)]
    }

    private static func log(_ share: RouteShare, of place: RouteShares.Place, _ logger: Logger) {
        var fields: [LogField: LogValue] = [
            .tenant: .text(place.tenant), .provider: .text(share.provider),
            .share: LogValue(percent(Double(share.share) / Double(ShareRule.whole))),
            .conversion: LogValue(percent(share.conversion)),
            .observations: LogValue(Int(share.observations.rounded())),
        ]
        if !place.region.isEmpty { fields[.region] = .text(place.region) }
        logger.log(.routeShares, fields)
    }

    private static func percent(_ part: Double) -> Int { Int((100 * part).rounded()) }
}
