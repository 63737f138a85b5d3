// SPDX-License-Identifier: Apache-2.0

import Formats
import Verification

/// The number of messages, and their cost at the highest price, that are sent before the brake or a budget stops an
/// attack.
struct AttackCost {
    let tenant: TenantPolicy
    let prices: PriceTable?

    var table: TextTable {
        var table = TextTable(numbers: [1, 2])
        let dearest = price(to: nil)
        let head = dearest.map { "at \($0) \(prices?.currency ?? "")" } ?? "cost unknown: no prices"
        table.row("stopped by", "messages", head, "")
        for scope in BrakeScope.allCases {
            let mode = tenant.brake.scopes[scope] ?? tenant.brake.mode
            if mode == .off { continue }
            let count = tenant.brake.messages(toTrip: scope)
            let cost = dearest.map { "\(Money(micros: $0.micros * Int64(count)))" } ?? "-"
            let isRecording = mode == .record
            table.row("brake, one \(scope.word)", count.grouped, cost, isRecording ? "only recorded" : "then blocked")
        }
        for budget in tenant.budgets {
            // An attack has no confirmed people, so the reserve is left.
            let open = budget.amount - budget.amount.percent(budget.reserve)
            let count = price(to: budget.regions).map { Int(open.micros / max($0.micros, 1)).grouped }
            let period = "\(budget.period == .hour ? "an" : "a") \(budget.period.rawValue)"
            let mode = budget.mode == .record ? ", only recorded" : ""
            let reserve = budget.reserve > 0 ? ", \(budget.reserve) % is left for confirmed people" : ""
            table.row("budget \(budget.name)", count ?? "-", "\(open)", "\(period)\(reserve)\(mode)")
        }
        return table
    }

    /// The highest price of the routes' providers, for all regions or some; nil if no price is above 0.
    ///
    /// A prefix may belong to any region.
    private func price(to regions: Set<Region>?) -> Money? {
        let routes = [tenant.routes.fallback] + tenant.routes.regions.values
        let providers = Set(routes.flatMap(\.providers))
        let prices = prices?.prices.filter { price in
            providers.contains(price.provider)
                && (regions.flatMap { regions in price.region?.isNamed(in: regions) } ?? true)
        }
        return prices?.map(\.amount).max().flatMap { $0 > .zero ? $0 : nil }
    }
}
