// SPDX-License-Identifier: Apache-2.0

package import Formats
import PostgresClient
package import Verification

/// Past messages of one minute with the same properties, and their number.
package struct PastMessages: Sendable, Equatable {
    /// The minute in which they were decided.
    package let minute: Timestamp
    package let tenant: String

    /// Nil where it is not stored.
    package let purpose: Purpose?
    package let channel: Channel
    package let region: Region

    /// Nil if it is unknown which provider took them.
    package let provider: String?
    package let segments: Int

    /// True for people whose number was confirmed.
    package let isConfirmed: Bool

    /// True for the first messages of their verifications.
    package let isFirst: Bool

    /// True if the code was typed in, of this message or another one of the verification.
    package let isApproved: Bool

    /// True for an hour's sum that is spread evenly over its minutes.
    package let isByHour: Bool
    package let count: Int

    package init(
        minute: Timestamp,
        tenant: String,
        purpose: Purpose?,
        channel: Channel,
        region: Region,
        provider: String?,
        segments: Int,
        isConfirmed: Bool,
        isFirst: Bool,
        isApproved: Bool,
        isByHour: Bool = false,
        count: Int
    ) {
        self.minute = minute
        self.tenant = tenant
        self.purpose = purpose
        self.channel = channel
        self.region = region
        self.provider = provider
        self.segments = segments
        self.isConfirmed = isConfirmed
        self.isFirst = isFirst
        self.isApproved = isApproved
        self.isByHour = isByHour
        self.count = count
    }
}

/// A budget of a policy and the money that is leased in its window.
package struct LeasedBudget: Sendable, Equatable {
    package let key: BudgetKey

    /// The policy's amount, or the operator's amount in its place.
    package let amount: Money
    package let leased: Money

    package init(key: BudgetKey, amount: Money, leased: Money) {
        self.key = key
        self.amount = amount
        self.leased = leased
    }

    /// The most by which the window's messages may cost more than the amount; zero if they may not.
    package var overshoot: Money { max(leased - amount, .zero) }
}

extension BudgetDesk {
    /// Reads messages that were sent, or may have been, in a range of whole minutes, grouped by minute and properties.
    package func history(from start: Timestamp, to end: Timestamp) async throws -> [PastMessages] {
        let statement = Statement(
            """
            SELECT h.minute, h.tenant, h.purpose, h.channel, h.region, h.provider, h.segments, h.confirmed, h.is_first,
                h.approved, h.by_hour, h.messages
            FROM courier.budget_history($1, $2) AS h
            """,
            [
                .timestamp(microsecondsSinceUnixEpoch: start.microseconds),
                .timestamp(microsecondsSinceUnixEpoch: end.microseconds),
            ]
        )
        let rows = try await pool.withSession { session in try session.execute(statement) }
        return try rows.compactMap { row in
            // A purpose or channel of a newer version is in no policy that this version reads.
            let word = try row.optionalText(2)
            let purpose = word.flatMap(Purpose.init(rawValue:))
            guard word == nil || purpose != nil, let channel = Channel(rawValue: try row.text(3)) else { return nil }
            return PastMessages(
                minute: Timestamp(microseconds: try row.timestamp(0)),
                tenant: try row.text(1),
                purpose: purpose,
                channel: channel,
                region: Region(try row.text(4)) ?? .unknown,
                provider: try row.optionalText(5),
                segments: Int(try row.optionalInt16(6) ?? 1),
                isConfirmed: try row.bool(7),
                isFirst: try row.bool(8),
                isApproved: try row.bool(9),
                isByHour: try row.bool(10),
                count: Int(try row.int64(11))
            )
        }
    }

    /// Reads the money that is leased of a policy's budgets, in the windows that the policy gives them.
    package func leased(of policy: Policy) async throws -> [LeasedBudget] {
        let budgets = policy.tenants.sorted { $0.key < $1.key }.flatMap { tenant, rules in
            rules.budgets.map { (tenant: tenant, budget: $0) }
        }
        let statement = Statement(
            """
            SELECT b.tenant, b.name, coalesce(r.amount, b.amount), s.leased
            FROM unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::int8[])
                WITH ORDINALITY AS b(tenant, name, period, time_zone, amount, place)
            CROSS JOIN LATERAL courier.budget_window(b.period, b.time_zone, statement_timestamp()) AS w
            CROSS JOIN LATERAL (
                SELECT coalesce(sum(s.leased), 0)::int8 AS leased FROM courier.budget_spend s
                WHERE s.tenant = b.tenant AND s.name = b.name AND s.bucket >= w.first_bucket
            ) AS s
            LEFT JOIN courier.budget_raise r
                ON r.tenant = b.tenant AND r.name = b.name AND r.until > statement_timestamp()
            ORDER BY b.place
            """,
            [
                .texts(budgets.map(\.tenant)), .texts(budgets.map(\.budget.name)),
                .texts(budgets.map(\.budget.period.rawValue)), .texts(budgets.map(\.budget.timeZone)),
                .int64s(budgets.map(\.budget.amount.micros)),
            ]
        )
        let rows = try await pool.withSession { session in try session.execute(statement) }
        return try rows.map { row in
            LeasedBudget(
                key: BudgetKey(tenant: try row.text(0), name: try row.text(1)),
                amount: Money(micros: try row.int64(2)),
                leased: Money(micros: try row.int64(3))
            )
        }
    }
}
