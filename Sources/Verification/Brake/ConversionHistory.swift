// SPDX-License-Identifier: Apache-2.0

package import Formats

/// A tenant's usual approvals, from its counts of the last 14 days.
package struct ConversionHistory: ConversionBaseline, Equatable {
    /// The period from which rates and volumes are computed.
    package static let span = Duration.seconds(14 * 86_400)

    private static let day = Duration.seconds(86_400)

    private struct Stratum: Hashable {
        let region: String
        let isConfirmed: Bool
    }

    private var rates: [Stratum: ApprovalRate] = [:]
    private var tenantRate = ApprovalRate.unknown
    private var curves: [String: ApprovalCurve] = [:]
    private var tenantCurve = ApprovalCurve.usual

    /// The usual volumes by region, for each hour of the day in UTC.
    private var volumes: [String: [Double]] = [:]

    /// The sums of the last day, over the regions that are judged.
    package private(set) var verificationsOfDay = 0
    package private(set) var approvalsOfDay = 0

    /// The history of a new tenant.
    package init() {}

    /// - Parameters:
    ///   - counts: of the tenant.
    ///   - now: the end of what counts.
    ///   - isJudged: false for a region that is off in the policy. An attack that nothing may stop there says nothing of
    ///     the tenant's other people: it neither puts the tenant to sleep nor lowers what is usual elsewhere.
    package init(
        _ counts: ConversionCounts,
        at now: Timestamp,
        judging isJudged: (String) -> Bool = { _ in true }
    ) {
        let judged = Set(counts.groups.keys.lazy.map(\.region)).filter(isJudged)
        var sums: [Stratum: ConversionCounts.Count] = [:]
        var all = ConversionCounts.Count()
        var days: [String: ConversionCounts.Count] = [:]
        var dayOfAll = ConversionCounts.Count()
        for (group, count) in counts.groups where group.hour > now - Self.span {
            sums[Stratum(region: group.region, isConfirmed: group.isConfirmed), default: .init()] += count
            let isJudged = judged.contains(group.region)
            if isJudged { all += count }
            guard group.hour > now - Self.day else { continue }
            days[group.region, default: .init()] += count
            if isJudged { dayOfAll += count }
        }
        verificationsOfDay = dayOfAll.verifications
        approvalsOfDay = dayOfAll.approved
        let tenantRate = ApprovalRate(approved: Double(all.approved), of: Double(all.verifications))
        self.tenantRate = tenantRate
        rates = sums.mapValues {
            ApprovalRate(approved: Double($0.approved), of: Double($0.verifications), parent: tenantRate)
        }
        tenantCurve = Self.curve(dayOfAll) ?? .usual
        curves = days.compactMapValues(Self.curve)
        volumes = Self.volumes(counts, before: (now - (ApprovalCurve.ages.last ?? .zero)).hour)
    }

    private static func curve(_ count: ConversionCounts.Count) -> ApprovalCurve? {
        ApprovalCurve(counts: count.within + [count.approved])
    }

    /// The median of each hour of the day, over the days since the tenant's first hour.
    ///
    /// An attack that no block stopped would raise a mean for two weeks, but hardly changes a median.
    private static func volumes(_ counts: ConversionCounts, before end: Timestamp) -> [String: [Double]] {
        let counted = counts.groups.filter { $0.key.hour < end && $0.key.hour >= end - span }
        guard let first = counted.keys.map(\.hour).min() else { return [:] }
        var hours: [String: [Timestamp: Int]] = [:]
        for (group, count) in counted {
            hours[group.region, default: [:]][group.hour, default: 0] += count.verifications
        }
        return hours.mapValues { region in
            var byHour = [[Int]](repeating: [], count: 24)
            var hour = first
            while hour < end {
                byHour[hour.hourOfDay].append(region[hour] ?? 0)
                hour = hour + .seconds(3600)
            }
            return byHour.map(median)
        }
    }

    private static func median(_ values: [Int]) -> Double {
        if values.isEmpty { return 0 }
        let sorted = values.sorted()
        return Double(sorted[(sorted.count - 1) / 2] + sorted[sorted.count / 2]) / 2
    }

    /// True if the tenant has too few approvals for a verdict: perhaps its codes are checked by another system.
    package func isAsleep(below minimumApprovals: Int) -> Bool {
        approvalsOfDay < minimumApprovals || approvalsOfDay * 10 < verificationsOfDay
    }

    package func rate(region: String, isConfirmed: Bool) -> ApprovalRate {
        rates[Stratum(region: region, isConfirmed: isConfirmed)] ?? tenantRate
    }

    package func curve(region: String) -> ApprovalCurve { curves[region] ?? tenantCurve }

    package func usualVolume(region: String, at time: Timestamp) -> Double {
        guard let hours = volumes[region] else { return 0 }
        let part = Double((time - time.hour).microseconds) / 3_600_000_000
        let hour = time.hourOfDay
        return (1 - part) * hours[(hour + 23) % 24] + part * hours[hour]
    }
}

extension Timestamp {
    /// The hour of the day in UTC, 0…23.
    fileprivate var hourOfDay: Int { Int((hour.microseconds / 3_600_000_000 % 24 + 24) % 24) }
}
