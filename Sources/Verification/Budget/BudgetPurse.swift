// SPDX-License-Identifier: Apache-2.0

package import Formats

/// The money that one batch of decisions may spend: leased before its transaction, so that transactions share no row.
package struct BudgetPurse: Sendable, Equatable {
    /// The money for one budget.
    package struct Balance: Sendable, Equatable {
        /// The part for everybody.
        package var open: Money

        /// The part for confirmed people only.
        package var reserved: Money

        /// The step of the budget's window in which the money was leased.
        package let bucket: Timestamp

        /// The time from which an exhausted budget has money again.
        package let renewal: Timestamp?

        package init(open: Money, reserved: Money, bucket: Timestamp, renewal: Timestamp?) {
            self.open = open
            self.reserved = reserved
            self.bucket = bucket
            self.renewal = renewal
        }

        /// Removes an amount; nil if there is too little.
        mutating func take(_ amount: Money, isConfirmed: Bool) -> Spending.Part? {
            let fromReserve = isConfirmed ? min(reserved, amount) : .zero
            let rest = amount - fromReserve
            guard rest <= open else { return nil }
            reserved -= fromReserve
            open -= rest
            return Spending.Part(open: rest, reserved: fromReserve, bucket: bucket)
        }
    }

    /// The money taken for one message.
    package struct Spending: Sendable, Equatable {
        package struct Part: Sendable, Equatable {
            package let open: Money
            package let reserved: Money
            package let bucket: Timestamp

            package init(open: Money, reserved: Money, bucket: Timestamp) {
                self.open = open
                self.reserved = reserved
                self.bucket = bucket
            }
        }

        package let amount: Money
        package let parts: [BudgetKey: Part]
    }

    package private(set) var balances: [BudgetKey: Balance]

    package init(_ balances: [BudgetKey: Balance] = [:]) {
        self.balances = balances
    }

    /// Takes an amount from each budget of a charge, or from none if one that is enforced has too little.
    ///
    /// No budget has enough for an unknown amount.
    ///
    /// `short` gets the budgets that only record and have too little: the message leaves, and they pay nothing.
    mutating func take(
        _ amount: Money?,
        for charge: BudgetCharge,
        short: inout [Budget]
    ) throws(BudgetExhausted) -> Spending {
        var left = balances
        var parts: [BudgetKey: Spending.Part] = [:]
        for budget in charge.budgets {
            let key = charge.key(of: budget)
            let mayUseReserve = charge.isConfirmed && budget.reserve > 0
            if let amount, let part = left[key]?.take(amount, isConfirmed: mayUseReserve) {
                parts[key] = part
            } else if budget.mode == .record {
                short.append(budget)
            } else {
                throw BudgetExhausted(budget: budget, renewal: left[key]?.renewal)
            }
        }
        balances = left
        return Spending(amount: amount ?? .zero, parts: parts)
    }
}

/// The refusal of a charge by the first budget that has too little.
struct BudgetExhausted: Error {
    let budget: Budget
    let renewal: Timestamp?
}

/// The results of the budgets in one batch of decisions.
package struct BudgetEffects: Sendable, Equatable {
    /// A request that was sent although a recording budget would have refused it.
    package struct Recorded: Sendable, Equatable {
        package let request: RequestKey
        package let rule: String
    }

    /// The money taken for each new send.
    package var spent: [SendID: BudgetPurse.Spending] = [:]

    /// The budgets that refused requests, with the number of requests.
    package var refused: [BudgetKey: Int] = [:]
    package var recorded: [Recorded] = []

    /// The money that the batch did not spend.
    package var left: BudgetPurse

    package init(left: BudgetPurse = BudgetPurse()) {
        self.left = left
    }
}

extension IntakeDecision {
    /// Pays for a request's message; returns the refusal if a budget has too little money.
    mutating func refusalByBudget(
        _ candidate: Candidate,
        _ request: VerificationRequest,
        _ passed: Screening.Passed
    ) -> Refusal? {
        guard let charge = passed.charge else { return nil }
        var short: [Budget] = []
        do throws(BudgetExhausted) {
            let amount = charge.amount(repeatsUnknown: settings.repeatsUnknown)
            changes.budgets.spent[candidate.sendID] = try purse.take(amount, for: charge, short: &short)
        } catch {
            changes.budgets.refused[charge.key(of: error.budget), default: 0] += 1
            let rule = error.budget.rule
            return Refusal(.budgetExhausted, rule: rule, region: passed.region, retryAfter: error.renewal)
        }
        for budget in short {
            changes.budgets.recorded.append(BudgetEffects.Recorded(request: candidate.key, rule: budget.rule))
        }
        return nil
    }
}
