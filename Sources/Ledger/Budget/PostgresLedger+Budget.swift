// SPDX-License-Identifier: Apache-2.0

import Formats
package import PostgresClient
package import Verification

/// The budgets' leases.
extension PostgresLedger: BudgetLedger {
    package func lease(_ asks: [BudgetAsk]) async throws -> [BudgetLease] {
        if asks.isEmpty { return [] }
        let statement = Self.leaseBudgets(asks.sorted { $0.key < $1.key })
        let rows = try await pool.withSession { session in try session.execute(statement) }
        return try rows.map { row in
            BudgetLease(
                key: BudgetKey(tenant: try row.text(0), name: try row.text(1)),
                bucket: try Timestamp(row, 2),
                left: .microseconds(try row.int64(3)),
                amount: Money(micros: try row.int64(4)),
                usedBefore: Money(micros: try row.int64(5)),
                open: Money(micros: try row.int64(6)),
                reserved: Money(micros: try row.int64(7)),
                renewal: try Timestamp(row, 8)
            )
        }
    }

    package func giveBack(_ returns: [BudgetReturn]) async throws {
        if returns.isEmpty { return }
        let statement = Self.returnBudgets(returns)
        _ = try await pool.withSession { session in try session.execute(statement) }
    }

    package func forecast(_ budget: Budget, of tenant: String, amount: Money) async throws -> BudgetForecast? {
        let statement = Statement(
            """
            SELECT f.rate, f.exhausted_at
            FROM courier.budget_forecast($1, $2, $3, $4, $5, statement_timestamp()) AS f
            """,
            [
                .text(tenant), .text(budget.name), .text(budget.period.rawValue), .text(budget.timeZone),
                .int64(amount.micros),
            ]
        )
        let rows = try await pool.withSession { session in try session.execute(statement) }
        return try rows.map { row in
            BudgetForecast(
                rate: try row.double(0),
                exhaustedAt: try row.optionalTimestamp(1).map { Timestamp(microseconds: $0) }
            )
        }.first
    }

    // MARK: Statements

    package static func leaseBudgets(_ asks: [BudgetAsk]) -> Statement {
        let budgets = asks.map(\.budget)
        return Statement(
            """
            SELECT l.tenant, l.name, l.bucket, l.left_us, l.amount, l.used_before, l.granted_open,
                l.granted_reserved, l.renewal
            FROM courier.lease_budget($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12) AS l
            """,
            [
                .texts(asks.map(\.tenant)), .texts(budgets.map(\.name)), .texts(budgets.map(\.period.rawValue)),
                .texts(budgets.map(\.timeZone)), .texts(budgets.map(\.currency)),
                .int64s(budgets.map(\.amount.micros)), .int32s(budgets.map { Int32($0.reserve) }),
                .texts(budgets.map(\.mode.rawValue)),
                .int64s(asks.map(\.open.least.micros)), .int64s(asks.map(\.open.most.micros)),
                .int64s(asks.map(\.reserved.least.micros)), .int64s(asks.map(\.reserved.most.micros)),
            ]
        )
    }

    /// Subtracts returned money from steps, whose rows are locked in the order of their keys.
    package static func returnBudgets(_ returns: [BudgetReturn]) -> Statement {
        Statement(
            """
            WITH locked AS MATERIALIZED (
                SELECT s.tenant, s.name, s.bucket, u.amount
                FROM (
                    SELECT u.tenant, u.name, u.bucket, sum(u.amount)::int8 AS amount
                    FROM unnest($1::text[], $2::text[], $3::timestamptz[], $4::int8[])
                        AS u(tenant, name, bucket, amount)
                    GROUP BY u.tenant, u.name, u.bucket
                ) AS u
                JOIN courier.budget_spend s ON s.tenant = u.tenant AND s.name = u.name AND s.bucket = u.bucket
                ORDER BY s.tenant, s.name, s.bucket
                FOR UPDATE OF s
            )
            UPDATE courier.budget_spend s SET leased = greatest(s.leased - l.amount, 0)
            FROM locked l
            WHERE s.tenant = l.tenant AND s.name = l.name AND s.bucket = l.bucket
            """,
            [
                .texts(returns.map(\.key.tenant)), .texts(returns.map(\.key.name)),
                .timestamps(returns.map(\.bucket.microseconds)), .int64s(returns.map(\.amount.micros)),
            ]
        )
    }
}
