// SPDX-License-Identifier: Apache-2.0

package import Formats

/// The store of the budgets' leases.
///
/// Money must be leased before it is spent, so the fleet never spends more than a budget's amount: the money of a
/// worker that died counts as spent. Each method is one transaction. An error means that the database failed.
package protocol BudgetLedger: Sendable {
    /// Leases money for each request, as far as its budget has any.
    ///
    /// An ask whose time zone the store does not know gets no answer.
    func lease(_ asks: [BudgetAsk]) async throws -> [BudgetLease]

    /// Gives leased money back that was not spent.
    func giveBack(_ returns: [BudgetReturn]) async throws

    /// The present rate of a budget, and its end by that and by what is usual for the hours to come.
    func forecast(_ budget: Budget, of tenant: String, amount: Money) async throws -> BudgetForecast?
}

/// The use of a budget if spending continues as in the last two steps of its window.
package struct BudgetForecast: Sendable, Equatable {
    /// The money spent an hour.
    package let perHour: Money

    /// The time at which the budget is used up; nil if the window frees enough money before, or the month ends.
    package let exhaustedAt: Timestamp?

    package init(perHour: Money, exhaustedAt: Timestamp?) {
        self.perHour = perHour
        self.exhaustedAt = exhaustedAt
    }

    /// Makes a forecast from a rate in millionths a second, which may be any number that a database returns.
    package init(rate: Double, exhaustedAt: Timestamp?) {
        let micros = (rate * 3600).rounded()
        self.init(perHour: Money(micros: Int64(exactly: micros) ?? .max), exhaustedAt: exhaustedAt)
    }
}

/// A worker's request for money of one budget.
package struct BudgetAsk: Sendable, Equatable {
    package struct Need: Sendable, Equatable {
        /// The minimum: leased whole, if the budget has that much.
        package let least: Money

        /// The maximum: less is leased if it would take a large part of the remaining money.
        package let most: Money

        package init(least: Money, most: Money) {
            self.least = least
            self.most = most
        }

        package static let none = Need(least: .zero, most: .zero)
    }

    package let tenant: String
    package let budget: Budget
    package let open: Need

    /// The need for confirmed people, who may use the whole budget.
    package let reserved: Need

    package init(tenant: String, budget: Budget, open: Need, reserved: Need) {
        self.tenant = tenant
        self.budget = budget
        self.open = open
        self.reserved = reserved
    }

    package var key: BudgetKey { BudgetKey(tenant: tenant, name: budget.name) }
}

/// The answer to one request for money.
package struct BudgetLease: Sendable, Equatable {
    package let key: BudgetKey

    /// The step of the budget's window in which the money is to be spent, and the time until its end.
    package let bucket: Timestamp
    package let left: Duration

    /// The amount in force, which an operator may have changed.
    package let amount: Money

    /// The money leased in the window before this lease; `used` includes this lease.
    package let usedBefore: Money
    package let used: Money
    package let open: Money
    package let reserved: Money

    /// The time at which the window frees money, if no worker gives any back before.
    package let renewal: Timestamp

    package init(
        key: BudgetKey,
        bucket: Timestamp,
        left: Duration,
        amount: Money,
        usedBefore: Money,
        open: Money,
        reserved: Money,
        renewal: Timestamp
    ) {
        self.key = key
        self.bucket = bucket
        self.left = left
        self.amount = amount
        self.usedBefore = usedBefore
        used = usedBefore + open + reserved
        self.open = open
        self.reserved = reserved
        self.renewal = renewal
    }
}

/// Leased money that was not spent.
package struct BudgetReturn: Sendable, Equatable {
    package let key: BudgetKey
    package let bucket: Timestamp
    package let amount: Money

    package init(key: BudgetKey, bucket: Timestamp, amount: Money) {
        self.key = key
        self.bucket = bucket
        self.amount = amount
    }
}
