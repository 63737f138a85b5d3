// SPDX-License-Identifier: Apache-2.0

package import Formats
import Glibc

/// The rule of adaptive routes: from evidence to shares, a pure function.
///
/// Each provider's conversion is a Beta distribution: its observations in the region and, as much as 20 of them, its
/// rate in all regions. Its value is the conversion less what its price is worth. Its share is the chance that its value
/// is the highest in each of two draws that have the same winner: Thompson sampling without the sampling, so that the
/// same evidence gives the same shares everywhere, and with half of its regret in `RouteSimulation`.
package struct ShareRule {
    /// The observations for which a provider's rate in all regions stands.
    static let weightOfOthers = 20.0

    /// The observations that show whether a provider has healed: in a busy region they are less than the route's floor.
    static let leastObservations = 10.0

    /// The approvals without which nothing is known: the tenant's codes are perhaps checked elsewhere.
    package static let leastApprovals = 20

    /// The share of a silent provider in 10,000: enough to see that it delivers again.
    package static let silentShare = 50
    package static let whole = 10_000

    private let route: AdaptiveRoute
    private let sums: [RouteEvidence.Cell: RouteEvidence.Sum]

    /// The rates of all regions, by provider and for confirmed people.
    private let rates: [Stratum: Double]

    private struct Stratum: Hashable {
        let provider: String
        let isConfirmed: Bool
    }

    /// Prepares the shares of one route for all regions of a tenant.
    package init(_ route: AdaptiveRoute, _ evidence: RouteEvidence, at now: Timestamp) {
        self.route = route
        let isKnown = evidence.approvals >= Double(Self.leastApprovals)
        sums = isKnown ? evidence.sums(halfLife: route.halfLife, at: now) : [:]
        var all: [Stratum: RouteEvidence.Sum] = [:]
        for (cell, sum) in sums {
            all[Stratum(provider: cell.provider, isConfirmed: cell.isConfirmed), default: .init()] += sum
        }
        rates = all.compactMapValues { $0.messages >= Self.weightOfOthers ? $0.approved / $0.messages : nil }
    }

    /// The shares for one region, nil for one without evidence, in the order of the route's providers.
    ///
    /// A provider without a price is taken for the dearest. `silent` has those that accept messages and deliver none.
    package func shares(
        in region: String?,
        prices: [String: Money] = [:],
        silent: [String: SilentRoutes.Silence] = [:]
    ) -> [RouteShare] {
        let estimates = route.providers.map { estimate($0, in: region) }
        let costs = costs(prices)
        let candidates = route.providers.indices.filter { silent[route.providers[$0]] == nil }
        let values = candidates.map { index in
            Normal(mean: estimates[index].mean - costs[index], deviation: estimates[index].deviation)
        }
        let chances = Dictionary(uniqueKeysWithValues: zip(candidates, Normal.chancesToWinTwice(values)))
        let silentPart = Double(route.providers.count - candidates.count) * Double(Self.silentShare)
        let least = floor(in: region) * Double(Self.whole)
        let rest = max(0, Double(Self.whole) - silentPart - least * Double(candidates.count))
        return route.providers.indices.map { index in
            let provider = route.providers[index]
            let share = chances[index].map { least + rest * $0 } ?? Double(Self.silentShare)
            return RouteShare(
                provider: provider,
                share: max(1, Int(share.rounded())),
                conversion: estimates[index].mean,
                deviation: estimates[index].deviation,
                observations: observations(of: provider, in: region),
                silence: silent[provider]
            )
        }
    }

    /// The least share of a provider that is not silent.
    private func floor(in region: String?) -> Double {
        let seen = route.providers.reduce(0) { $0 + observations(of: $1, in: region) }
        return min(Double(route.floor) / 100, Self.leastObservations / max(seen, 1))
    }

    /// The points of conversion that each provider's price is worth.
    private func costs(_ prices: [String: Money]) -> [Double] {
        let known = route.providers.map { prices[$0].map { Double(max(1, $0.micros)) } }
        let given = known.compactMap(\.self)
        guard let cheapest = given.min(), let dearest = given.max() else { return known.map { _ in 0 } }
        return known.map { route.costPerDoubling * log2(($0 ?? dearest) / cheapest) }
    }

    private func observations(of provider: String, in region: String?) -> Double {
        [true, false].reduce(0) { $0 + sum(provider, in: region, isConfirmed: $1).messages }
    }

    private func sum(_ provider: String, in region: String?, isConfirmed: Bool) -> RouteEvidence.Sum {
        guard let region else { return .init() }
        return sums[.init(region: region, provider: provider, isConfirmed: isConfirmed)] ?? .init()
    }

    /// The distribution of a provider's conversion, for the region's mix of confirmed people and others.
    private func estimate(_ provider: String, in region: String?) -> Normal {
        let part = confirmedPart(of: region)
        let (confirmed, others) = (beta(provider, in: region, true), beta(provider, in: region, false))
        return Normal(
            mean: part * confirmed.mean + (1 - part) * others.mean,
            deviation: hypot(part * confirmed.deviation, (1 - part) * others.deviation)
        )
    }

    private func beta(_ provider: String, in region: String?, _ isConfirmed: Bool) -> Normal {
        let sum = sum(provider, in: region, isConfirmed: isConfirmed)
        let rate = rates[Stratum(provider: provider, isConfirmed: isConfirmed)] ?? ApprovalRate.unknown.value
        let yes = 1 + sum.approved + Self.weightOfOthers * rate
        let no = 1 + sum.messages - sum.approved + Self.weightOfOthers * (1 - rate)
        let all = yes + no
        return Normal(mean: yes / all, deviation: sqrt(yes * no / (all + 1)) / all)
    }

    /// The part of the region's people who are confirmed; of all regions where it has none.
    private func confirmedPart(of region: String?) -> Double {
        func part(_ counts: (RouteEvidence.Cell) -> Bool) -> Double? {
            var (confirmed, all) = (0.0, 0.0)
            for (cell, sum) in sums where counts(cell) {
                all += sum.messages
                if cell.isConfirmed { confirmed += sum.messages }
            }
            return all >= 1 ? confirmed / all : nil
        }
        return region.flatMap { region in part { $0.region == region } } ?? part { _ in true } ?? 0
    }
}

/// A normal distribution, which a Beta distribution with 20 observations and more resembles.
struct Normal: Sendable, Equatable {
    let mean: Double
    let deviation: Double

    /// The chance of each value to be the highest of all; the chances sum to 1.
    static func chancesToBeHighest(_ values: [Normal]) -> [Double] {
        let chances = values.indices.map { index in
            grid.reduce(0) { sum, point in
                let value = values[index].mean + values[index].deviation * point.z
                let others = values.indices.reduce(1.0) { $1 == index ? $0 : $0 * values[$1].chance(below: value) }
                return sum + point.weight * others
            }
        }
        let sum = chances.reduce(0, +)
        return sum > 0 ? chances.map { $0 / sum } : chances.map { _ in 1 / Double(values.count) }
    }

    /// The chance of each value to be the highest in two draws, among pairs of draws with one winner.
    static func chancesToWinTwice(_ values: [Normal]) -> [Double] {
        let squares = chancesToBeHighest(values).map { $0 * $0 }
        let sum = squares.reduce(0, +)
        return squares.map { $0 / max(sum, 1e-300) }
    }

    private func chance(below value: Double) -> Double {
        erfc((mean - value) / (max(deviation, 1e-9) * 2.0.squareRoot())) / 2
    }

    /// Points of the standard normal distribution from -4 to 4, with the density as their weight.
    private static let grid: [(z: Double, weight: Double)] = (-32...32).map { step in
        let z = Double(step) / 8
        return (z, exp(-z * z / 2))
    }
}
