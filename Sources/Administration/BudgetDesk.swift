// SPDX-License-Identifier: Apache-2.0

package import Formats
package import PostgresClient
package import Verification

/// Shows the fleet's budgets to an operator, and writes the operator's amounts.
package struct BudgetDesk: Sendable {
    let pool: PostgresPool

    /// - Parameter pool: connections of a role that is granted `courier_operator`, or of the owner.
    package init(pool: PostgresPool) {
        self.pool = pool
    }

    /// A budget as the policy had it at the newest lease, with its use in the window.
    package struct State: Sendable, Equatable {
        package let key: BudgetKey
        package let period: String
        package let timeZone: String
        package let currency: String

        /// The policy's amount.
        package let amount: Money
        package let reserve: Int
        package let mode: String

        /// The money leased in the window, most of which is spent.
        package let used: Money

        /// The time at which the window's next step begins, or the next month.
        package let nextStep: Timestamp
        package let leasedAt: Timestamp
        package let forecast: BudgetForecast
        package let raise: Raise?

        package init(
            key: BudgetKey,
            period: String,
            timeZone: String,
            currency: String,
            amount: Money,
            reserve: Int,
            mode: String,
            used: Money,
            nextStep: Timestamp,
            leasedAt: Timestamp,
            forecast: BudgetForecast,
            raise: Raise?
        ) {
            self.key = key
            self.period = period
            self.timeZone = timeZone
            self.currency = currency
            self.amount = amount
            self.reserve = reserve
            self.mode = mode
            self.used = used
            self.nextStep = nextStep
            self.leasedAt = leasedAt
            self.forecast = forecast
            self.raise = raise
        }

        /// The amount in force.
        package var amountInForce: Money { raise?.amount ?? amount }
    }

    /// An operator's amount, which replaces the policy's until a time.
    package struct Raise: Sendable, Equatable {
        package let amount: Money
        package let until: Timestamp
        package let reason: String
        package let createdBy: String
    }

    /// Reads the budgets from which money was leased within 62 days, by tenant and name.
    package func states(tenant: String?) async throws -> [State] {
        let statement = Statement(
            """
            SELECT b.tenant, b.name, b.period, b.time_zone, b.currency, b.amount, b.reserve, b.mode, b.leased_at,
                CASE b.period WHEN 'month' THEN courier.budget_month_end(b.time_zone, statement_timestamp())
                    ELSE w.bucket_end END,
                s.used, f.rate, f.exhausted_at, r.amount, r.until, r.reason, r.created_by
            FROM courier.budget b
            CROSS JOIN LATERAL courier.budget_window(b.period, b.time_zone, statement_timestamp()) AS w
            CROSS JOIN LATERAL (
                SELECT coalesce(sum(s.leased), 0)::int8 AS used FROM courier.budget_spend s
                WHERE s.tenant = b.tenant AND s.name = b.name AND s.bucket >= w.first_bucket
            ) AS s
            LEFT JOIN courier.budget_raise r
                ON r.tenant = b.tenant AND r.name = b.name AND r.until > statement_timestamp()
            CROSS JOIN LATERAL courier.budget_forecast(
                b.tenant, b.name, b.period, b.time_zone, coalesce(r.amount, b.amount), statement_timestamp()
            ) AS f
            WHERE ($1::text IS NULL OR b.tenant = $1) AND b.leased_at > statement_timestamp() - interval '62 days'
            ORDER BY b.tenant, b.name
            """,
            [.text(tenant)]
        )
        let rows = try await pool.withSession { session in try session.execute(statement) }
        return try rows.map { row in try State(row) }
    }

    /// Replaces a budget's amount for a time, and returns the end; nil if no money of such a budget was ever leased.
    package func raise(_ key: BudgetKey, to amount: Money, lasting: Duration, reason: String) async throws -> Timestamp?
    {
        let statement = Statement(
            """
            INSERT INTO courier.budget_raise AS r (tenant, name, amount, until, reason)
            SELECT b.tenant, b.name, $3, clock_timestamp() + make_interval(secs => $4::float8), $5
            FROM courier.budget b WHERE b.tenant = $1 AND b.name = $2
            ON CONFLICT (tenant, name) DO UPDATE
            SET amount = excluded.amount, until = excluded.until, reason = excluded.reason,
                created_at = excluded.created_at, created_by = excluded.created_by
            RETURNING r.until
            """,
            [
                .text(key.tenant), .text(key.name), .int64(amount.micros),
                .double(Double(lasting.microseconds) / 1e6), .text(reason),
            ]
        )
        return try await pool.withTransaction { transaction in
            try transaction.run([statement])[0].map { Timestamp(microseconds: try $0.timestamp(0)) }.first
        }
    }

    /// Cancels an operator's amount; false if there is none.
    package func restore(_ key: BudgetKey) async throws -> Bool {
        let statement = Statement(
            "DELETE FROM courier.budget_raise r WHERE r.tenant = $1 AND r.name = $2 AND r.until > now() RETURNING 1",
            [.text(key.tenant), .text(key.name)]
        )
        return try await pool.withTransaction { try $0.run([statement])[0].count == 1 }
    }
}

extension BudgetDesk.State {
    fileprivate init(_ row: Row) throws(PostgresError) {
        key = BudgetKey(tenant: try row.text(0), name: try row.text(1))
        period = try row.text(2)
        timeZone = try row.text(3)
        currency = try row.text(4)
        amount = Money(micros: try row.int64(5))
        reserve = Int(try row.int32(6))
        mode = try row.text(7)
        leasedAt = Timestamp(microseconds: try row.timestamp(8))
        nextStep = Timestamp(microseconds: try row.timestamp(9))
        used = Money(micros: try row.int64(10))
        forecast = BudgetForecast(
            rate: try row.double(11),
            exhaustedAt: try row.optionalTimestamp(12).map { Timestamp(microseconds: $0) }
        )
        guard let raised = try row.optionalInt64(13) else {
            raise = nil
            return
        }
        raise = BudgetDesk.Raise(
            amount: Money(micros: raised),
            until: Timestamp(microseconds: try row.timestamp(14)),
            reason: try row.text(15),
            createdBy: try row.text(16)
        )
    }
}
