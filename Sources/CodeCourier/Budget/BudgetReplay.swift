// SPDX-License-Identifier: Apache-2.0

import Administration
import Formats
import Verification

/// Replays past messages against the budgets and prices of a policy.
///
/// Every message costs its provider's price, as if its outcome were known at once. If a budget cannot pay for all
/// messages of a minute, they count as evenly spread over the minute's seconds.
struct BudgetReplay {
    let policy: Policy

    /// The start of the counted results; earlier messages only fill the windows.
    let since: Timestamp

    private(set) var accounts: [BudgetKey: ReplayedBudget] = [:]
    private(set) var messages = 0
    private(set) var first: Timestamp?

    /// The messages known only by their hour.
    private(set) var byHour = 0

    /// The messages that cost nothing here, by the provider without a price.
    private(set) var unpriced: [String: Int] = [:]

    /// The messages of tenants that are not in the policy.
    private(set) var strangers = 0

    private static let slices = 60

    init(policy: Policy, since: Timestamp) {
        self.policy = policy
        self.since = since
        for (tenant, rules) in policy.tenants {
            for budget in rules.budgets {
                accounts[BudgetKey(tenant: tenant, name: budget.name)] = ReplayedBudget(budget)
            }
        }
    }

    /// The earliest message that matters: the beginning of the longest window at `since`.
    var start: Timestamp {
        accounts.values.map { $0.window.start(at: since) }.min() ?? since
    }

    /// Messages with the same properties, and their price.
    private struct Group {
        let past: PastMessages
        let cost: Money
        let budgets: [BudgetKey]
    }

    /// Adds the messages of one minute.
    mutating func add(_ minute: [PastMessages]) {
        guard let time = minute.first?.minute else { return }
        for key in accounts.keys { accounts[key]?.advance(to: time, isCounted: time >= since) }
        let groups = minute.compactMap { group($0) }
        if fits(groups) {
            for group in groups { charge(group, group.past.count) }
        } else {
            for slice in 0..<Self.slices {
                for group in groups {
                    let count = group.past.count
                    charge(group, count * (slice + 1) / Self.slices - count * slice / Self.slices)
                }
            }
        }
        for key in accounts.keys { accounts[key]?.endMinute() }
    }

    private mutating func group(_ past: PastMessages) -> Group? {
        let isCounted = past.minute >= since
        if isCounted {
            messages += past.count
            first = first ?? past.minute
            if past.isByHour { byHour += past.count }
        }
        guard let tenant = policy.tenants[past.tenant] else {
            if isCounted { strangers += past.count }
            return nil
        }
        let budgets = tenant.budgets.filter { $0.pays(for: past.purpose, by: past.channel, to: past.region) }
        if budgets.isEmpty { return nil }
        let route = tenant.routes.route(for: past.channel, region: past.region).providers
        let costs = (past.provider.map { [$0] } ?? route).map { provider in
            (provider, policy.prices?.cost(provider, past.region, segments: past.segments))
        }
        // A message whose provider is unknown costs as much as at the route's most expensive provider.
        guard let cost = costs.compactMap(\.1).max() else {
            if isCounted { unpriced[costs.first?.0 ?? "", default: 0] += past.count }
            return nil
        }
        if cost == .zero { return nil }
        return Group(
            past: past,
            cost: cost,
            budgets: budgets.map { BudgetKey(tenant: past.tenant, name: $0.name) }
        )
    }

    private func fits(_ groups: [Group]) -> Bool {
        var needs: [BudgetKey: Money] = [:]
        for group in groups {
            for key in group.budgets {
                needs[key, default: .zero] += Money(micros: group.cost.micros * Int64(group.past.count))
            }
        }
        return needs.allSatisfy { key, need in accounts[key].map { need <= $0.room(isConfirmed: false) } ?? true }
    }

    /// Charges messages as a worker's purse does: to all budgets or none; a budget that only records pays as far as it
    /// can.
    private mutating func charge(_ group: Group, _ count: Int) {
        if count == 0 { return }
        var served = count
        var refuser: BudgetKey?
        for key in group.budgets {
            guard let account = accounts[key], account.budget.mode == .enforce else { continue }
            let paid = account.affordable(group.cost, isConfirmed: group.past.isConfirmed)
            if paid < served { (served, refuser) = (paid, key) }
        }
        for key in group.budgets {
            guard let account = accounts[key] else { continue }
            let isRecording = account.budget.mode == .record
            let paid = isRecording ? account.affordable(group.cost, isConfirmed: group.past.isConfirmed) : served
            let short = isRecording ? served - min(served, paid) : refuser == key ? count - served : 0
            accounts[key]?.charge(min(served, paid), of: count, refused: short, each: group.cost, for: group.past)
        }
    }
}
