// SPDX-License-Identifier: Apache-2.0

import Formats
import Verification

/// The money that a batch needs from one budget.
struct BudgetNeed {
    let tenant: String
    let budget: Budget
    var open = Money.zero
    var reserved = Money.zero

    /// The maximum cost of the candidates, by budget.
    static func of(_ candidates: [Candidate], repeatsUnknown: Bool) -> [BudgetKey: BudgetNeed] {
        var needs: [BudgetKey: BudgetNeed] = [:]
        for candidate in candidates {
            let charges = candidate.possibleOutcomes.compactMap(\.charge).compactMap { charge in
                charge.amount(repeatsUnknown: repeatsUnknown).map { (charge: charge, amount: $0) }
            }
            guard let (charge, amount) = charges.max(by: { $0.amount < $1.amount }) else { continue }
            for budget in charge.budgets {
                var need = needs[charge.key(of: budget)] ?? BudgetNeed(tenant: charge.tenant, budget: budget)
                if charge.isConfirmed, budget.reserve > 0 { need.reserved += amount } else { need.open += amount }
                needs[charge.key(of: budget)] = need
            }
        }
        return needs
    }
}

/// The money that this worker has leased and not spent, and the money kept for sends without a final result.
struct BudgetAccounts {
    /// The money of one budget that this worker has leased and not spent.
    struct Account {
        let bucket: Timestamp
        let endsAt: ContinuousClock.Instant
        var open = Money.zero
        var reserved = Money.zero
        var renewal: Timestamp?
        var usedAt: ContinuousClock.Instant

        /// The times until which the budget is not asked again for money that everybody may spend, and for its reserve.
        ///
        /// An attack that has used up the first must not keep confirmed people from the second.
        var openPause: ContinuousClock.Instant?
        var reservePause: ContinuousClock.Instant?

        /// Begins the pauses of the kinds of money of which there is less than a batch needs.
        mutating func pause(_ need: BudgetNeed, until end: ContinuousClock.Instant, at now: ContinuousClock.Instant) {
            let rest = max(open - need.open, .zero)
            if open < need.open, !now.isBefore(openPause) { openPause = end }
            if reserved + rest < need.reserved, !now.isBefore(reservePause) { reservePause = end }
        }
    }

    private var accounts: [BudgetKey: Account] = [:]
    private var returns: [BudgetReturn] = []

    /// The warning percentage that this worker's lease reached, and the time at which it was logged.
    private var warned: [BudgetKey: (percent: Int, at: ContinuousClock.Instant)] = [:]

    /// The times at which exhausted budgets were logged.
    private var logged: [BudgetKey: ContinuousClock.Instant] = [:]

    /// The money kept for sends without a final result, and the time until which a result may arrive.
    private var open: [SendID: (spending: BudgetPurse.Spending, until: ContinuousClock.Instant)] = [:]

    /// Returns the leases to request for a batch; marks the money of past steps to be given back.
    mutating func asks(
        for needs: [BudgetKey: BudgetNeed],
        at now: ContinuousClock.Instant,
        ahead: Int64
    ) -> [BudgetAsk] {
        needs.compactMap { key, need in
            if let account = accounts[key], account.endsAt <= now { close(key, account) }
            let account = accounts[key]
            let (open, reserved) = (account?.open ?? .zero, account?.reserved ?? .zero)
            if need.open <= open, need.reserved <= reserved + (open - need.open) { return nil }
            let ask = BudgetAsk(
                tenant: need.tenant,
                budget: need.budget,
                open: now.isBefore(account?.openPause)
                    ? .none : .init(need.open, beside: open, ahead: ahead),
                reserved: now.isBefore(account?.reservePause)
                    ? .none : .init(need.reserved, beside: reserved, ahead: ahead)
            )
            return ask.open == .none && ask.reserved == .none ? nil : ask
        }
    }

    mutating func add(_ lease: BudgetLease, at now: ContinuousClock.Instant) {
        if let account = accounts[lease.key], account.bucket != lease.bucket { close(lease.key, account) }
        var account =
            accounts[lease.key] ?? Account(bucket: lease.bucket, endsAt: now + lease.left, usedAt: now)
        account.open += lease.open
        account.reserved += lease.reserved
        account.renewal = lease.renewal
        accounts[lease.key] = account
    }

    /// Removes the money that a batch needs from the accounts, or all there is.
    mutating func purse(
        for needs: [BudgetKey: BudgetNeed],
        at now: ContinuousClock.Instant,
        pause: Duration
    ) -> BudgetPurse {
        var balances: [BudgetKey: BudgetPurse.Balance] = [:]
        for (key, need) in needs {
            guard var account = accounts[key] else { continue }
            account.pause(need, until: now + pause, at: now)
            let reserved = min(account.reserved, need.reserved)
            let open = min(account.open, need.open + (need.reserved - reserved))
            account.open -= open
            account.reserved -= reserved
            account.usedAt = now
            accounts[key] = account
            balances[key] = BudgetPurse.Balance(
                open: open,
                reserved: reserved,
                bucket: account.bucket,
                renewal: account.renewal
            )
        }
        return BudgetPurse(balances)
    }

    mutating func putBack(_ open: Money, _ reserved: Money, _ bucket: Timestamp, to key: BudgetKey) {
        guard var account = accounts[key], account.bucket == bucket else {
            if open + reserved > .zero {
                returns.append(BudgetReturn(key: key, bucket: bucket, amount: open + reserved))
            }
            return
        }
        account.open += open
        account.reserved += reserved
        accounts[key] = account
    }

    mutating func takeReturns(
        unusedFor pause: Duration,
        at now: ContinuousClock.Instant
    ) -> [BudgetReturn] {
        for (key, account) in accounts where account.endsAt <= now || account.usedAt + pause <= now {
            close(key, account)
        }
        open = open.filter { now < $0.value.until }
        defer { returns = [] }
        return returns
    }

    /// The warning percentage to log for a lease: when it is first reached, and again each hour.
    mutating func warning(_ percents: [Int], _ lease: BudgetLease, at now: ContinuousClock.Instant) -> Int? {
        let reached = percents.last { lease.amount.percent($0) <= lease.used }
        let before = percents.last { lease.amount.percent($0) <= lease.usedBefore }
        guard let reached else {
            warned[lease.key] = nil
            return nil
        }
        let isDue = warned[lease.key].map { $0.percent == reached && $0.at + .seconds(3600) <= now } ?? false
        guard reached != before || isDue else { return nil }
        warned[lease.key] = (reached, now)
        return reached
    }

    /// True at most once a minute for a budget.
    mutating func isToBeLogged(_ key: BudgetKey, at now: ContinuousClock.Instant) -> Bool {
        if let last = logged[key], now < last + .seconds(60) { return false }
        logged[key] = now
        return true
    }

    private mutating func close(_ key: BudgetKey, _ account: Account) {
        accounts[key] = nil
        let rest = account.open + account.reserved
        if rest > .zero { returns.append(BudgetReturn(key: key, bucket: account.bucket, amount: rest)) }
    }

    /// Keeps the money of new sends.
    mutating func keep(_ spent: [SendID: BudgetPurse.Spending], until end: ContinuousClock.Instant) {
        for (send, spending) in spent where !spending.parts.isEmpty { open[send] = (spending, end) }
    }

    /// Puts back the difference between what was kept for a message and what it cost, and returns its budgets.
    ///
    /// A result that was not recorded puts nothing back: another worker has taken the message over and may have sent it.
    mutating func settle(_ result: SendResult, isRecorded: Bool) -> [BudgetKey] {
        guard result.disposition.isFinal, let spending = open.removeValue(forKey: result.send.id)?.spending else {
            return []
        }
        let unspent = result.unspent(of: spending.amount)
        if isRecorded, unspent > .zero {
            for (key, part) in spending.parts {
                let open = min(part.open, unspent)
                putBack(open, unspent - open, part.bucket, to: key)
            }
        }
        return Array(spending.parts.keys)
    }
}

extension ContinuousClock.Instant {
    fileprivate func isBefore(_ end: Self?) -> Bool { end.map { self < $0 } ?? false }
}

extension BudgetAsk.Need {
    fileprivate init(_ need: Money, beside balance: Money, ahead: Int64) {
        let least = max(need - balance, .zero)
        self.init(least: least, most: least == .zero ? .zero : least + Money(micros: need.micros * ahead))
    }
}

extension SendResult {
    /// The part of a message's money that was not spent, by its result.
    ///
    /// A message whose outcome is unknown may have left, and so may the one that it repeats.
    fileprivate func unspent(of amount: Money) -> Money {
        if !disposition.mayHaveLeft { return amount }
        guard disposition == .sent, doubtful == nil, let cost else { return .zero }
        return max(amount - cost.amount, .zero)
    }
}
