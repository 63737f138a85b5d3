// SPDX-License-Identifier: Apache-2.0

import Formats
import Synchronization
import TestSupport
import Verification

/// The budgets' leases in memory, all in one step of the window, as `courier.lease_budget` gives them.
final class MemoryBudgetLedger: BudgetLedger {
    struct Failure: Error {}

    /// A time zone that the store does not know.
    static let unknownZone = "Area/Nowhere"

    private struct State {
        var leased: [BudgetKey: Money] = [:]
        var isFailing = false
        var statements = 0
    }

    private let state = Mutex(State())

    var statements: Int { state.withLock(\.statements) }

    func leased(_ name: String) -> Money {
        state.withLock { $0.leased[BudgetKey(tenant: "default", name: name)] ?? .zero }
    }

    func fail(_ isFailing: Bool) { state.withLock { $0.isFailing = isFailing } }

    func lease(_ asks: [BudgetAsk]) async throws -> [BudgetLease] { try leaseNow(asks) }

    func leaseNow(_ asks: [BudgetAsk]) throws -> [BudgetLease] {
        try state.withLock { state in
            if state.isFailing { throw Failure() }
            state.statements += 1
            return asks.filter { $0.budget.timeZone != Self.unknownZone }.map { ask in
                let before = state.leased[ask.key] ?? .zero
                func grant(_ need: BudgetAsk.Need, _ room: Money) -> Money {
                    min(need.most, max(need.least, Money(micros: room.micros / 64)), max(room, .zero))
                }
                let amount = ask.budget.amount
                let open = grant(ask.open, amount - amount.percent(ask.budget.reserve) - before)
                let reserved = grant(ask.reserved, amount - before - open)
                state.leased[ask.key] = before + open + reserved
                return BudgetLease(
                    key: ask.key,
                    bucket: .test,
                    left: .seconds(3600),
                    amount: amount,
                    usedBefore: before,
                    open: open,
                    reserved: reserved,
                    renewal: .test + .seconds(86_400)
                )
            }
        }
    }

    /// A tenth of the amount an hour, and used up an hour after the test's time.
    func forecast(_ budget: Budget, of tenant: String, amount: Money) async throws -> BudgetForecast? {
        BudgetForecast(perHour: amount.percent(10), exhaustedAt: .test + .seconds(3600))
    }

    func giveBack(_ returns: [BudgetReturn]) async throws { try giveBackNow(returns) }

    func giveBackNow(_ returns: [BudgetReturn]) throws {
        try state.withLock { state in
            if state.isFailing { throw Failure() }
            for item in returns { state.leased[item.key, default: .zero] -= item.amount }
        }
    }
}
