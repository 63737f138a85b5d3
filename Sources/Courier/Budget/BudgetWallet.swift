// SPDX-License-Identifier: Apache-2.0

import Formats
import Logging
import Logs
import ServiceLifecycle
import Synchronization
import Verification

/// The worker's leased money: fills the purse of each batch, and takes back what was not spent.
///
/// A batch whose transaction may have been committed without an answer keeps its purse: money is never spent twice, and
/// a part of it may be spent never. One that surely wrote nothing gets its money back.
final class BudgetWallet: Service {
    /// A lease requests money for this many batches, unless the budget has little left.
    private static let batchesAhead: Int64 = 16

    /// The pause before an exhausted budget is queried again, and the time after which unused money goes back.
    private static let interval = Duration.seconds(5)

    private let ledger: (any BudgetLedger)?
    private let context: StageContext
    private let state = Mutex(BudgetAccounts())

    init(ledger: (any BudgetLedger)?, context: StageContext) {
        self.ledger = ledger
        self.context = context
    }

    // MARK: - A batch

    /// Returns the money for a batch, or less if its budgets have less.
    func purse(for candidates: [Candidate]) async throws -> BudgetPurse {
        let needs = BudgetNeed.of(candidates, repeatsUnknown: context.settings.repeatsUnknown)
        guard !needs.isEmpty, let ledger else { return BudgetPurse() }
        let asks = state.withLock { state in state.asks(for: needs, at: .now, ahead: Self.batchesAhead) }
        if !asks.isEmpty {
            let leases = try await ledger.lease(asks)
            let now = ContinuousClock.now
            state.withLock { state in
                for lease in leases { state.add(lease, at: now) }
            }
            await report(asks, leases)
        }
        return state.withLock { state in state.purse(for: needs, at: .now, pause: Self.interval) }
    }

    /// Applies the effects of a committed batch: keeps what its sends cost, and puts the rest back.
    func note(_ effects: BudgetEffects) {
        if effects.left.balances.isEmpty { return }
        let end = ContinuousClock.now + context.settings.maxRequestAge + context.settings.lease
        state.withLock { state in
            for (key, left) in effects.left.balances { state.putBack(left.open, left.reserved, left.bucket, to: key) }
            state.keep(effects.spent, until: end)
        }
    }

    /// Puts back the difference between what was kept for messages and what they cost.
    ///
    /// `recorded` has the sends whose claims held until their results were stored.
    func settle(_ results: [SendResult], recorded: Set<SendID>) {
        let paid = state.withLock { state in
            results.map { state.settle($0, isRecorded: recorded.contains($0.send.id)) }
        }
        for (result, budgets) in zip(results, paid) {
            if let cost = result.cost { context.statistics.noteSpend(cost, of: budgets) }
        }
    }

    // MARK: - Giving back

    func run() async {
        await Task.repeatUntilStopping(every: Self.interval) { await giveBack(unusedFor: Self.interval) }
        await giveBack(unusedFor: .zero)
    }

    /// Gives back the money of steps that are over, and what was not used for `pause`.
    private func giveBack(unusedFor pause: Duration) async {
        guard let ledger else { return }
        let returns = state.withLock { state in state.takeReturns(unusedFor: pause, at: .now) }
        if returns.isEmpty { return }
        do {
            try await ledger.giveBack(returns)
        } catch {
            // The statement may have been executed. Then the money is unavailable until its step leaves the window,
            // which is better than spending it twice.
            context.logger.log(.budgetKept, [.error: LogValue(error)])
        }
    }

    // MARK: - Log lines

    private func report(_ asks: [BudgetAsk], _ leases: [BudgetLease]) async {
        let asked = Dictionary(asks.map { ($0.key, $0) }) { first, _ in first }
        let answered = Set(leases.map(\.key))
        for ask in asks where !answered.contains(ask.key) {
            guard state.withLock({ state in state.isToBeLogged(ask.key, at: .now) }) else { continue }
            let zone = "the database's server does not know the time zone \(ask.budget.timeZone)"
            context.logger.log(
                .budgetExhausted,
                [
                    .tenant: .text(ask.tenant), .budget: .text(ask.budget.name), .error: .text(zone),
                    .mode: .text(ask.budget.mode.rawValue),
                ]
            )
        }
        for lease in leases {
            guard let ask = asked[lease.key] else { continue }
            let fields: [LogField: LogValue] = [
                .tenant: .text(ask.tenant), .budget: .text(ask.budget.name), .spent: .text(lease.used.description),
                .amount: .text(lease.amount.description), .currency: .text(ask.budget.currency),
                .period: .text(ask.budget.period.rawValue), .mode: .text(ask.budget.mode.rawValue),
            ]
            let warning = state.withLock { state in state.warning(ask.budget.warnAt, lease, at: .now) }
            if let warning {
                var warned = fields.merging([.percent: LogValue(warning)]) { $1 }
                warned[.forecast] = await forecast(ask, lease.amount).map { .text($0.rfc3339) }
                context.logger.log(.budgetWarned, warned)
            }
            if lease.open >= ask.open.least, lease.reserved >= ask.reserved.least { continue }
            let isReserveLeft = lease.reserved >= ask.reserved.least && lease.used < lease.amount
            guard state.withLock({ state in state.isToBeLogged(lease.key, at: .now) }) else { continue }
            var short = fields.merging([.until: .text(lease.renewal.rfc3339)]) { $1 }
            // More than the amount can be leased only if the policy or an operator lowered the amount.
            if lease.used > lease.amount {
                short[.overshoot] = .text((lease.used - lease.amount).description)
            }
            context.logger.log(isReserveLeft && ask.budget.reserve > 0 ? .budgetReserved : .budgetExhausted, short)
        }
    }

    /// The time at which a budget will be used up.
    private func forecast(_ ask: BudgetAsk, _ amount: Money) async -> Timestamp? {
        // A line without a forecast is still useful, and the next statement reports the outage.
        let forecast = try? await ledger?.forecast(ask.budget, of: ask.tenant, amount: amount)
        return forecast?.exhaustedAt
    }
}
