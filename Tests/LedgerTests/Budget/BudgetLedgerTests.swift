// SPDX-License-Identifier: Apache-2.0

import Administration
import Formats
import PostgresClient
import TestSupport
import TestTools
import Testing
import Verification

@testable import Ledger

@Suite struct BudgetLedgerTests {
    private static func budget(
        _ name: String = "day",
        amount: Int64 = 1000,
        _ period: Budget.Period = .day,
        reserve: Int = 0
    ) -> Budget {
        Budget(
            name: name,
            amount: Money(micros: amount),
            currency: "USD",
            period: period,
            timeZone: "Europe/Berlin",
            reserve: reserve
        )
    }

    private static func ask(
        _ budget: Budget,
        _ least: Int64,
        _ most: Int64? = nil,
        reserved: Int64 = 0
    ) -> BudgetAsk {
        BudgetAsk(
            tenant: "default",
            budget: budget,
            open: .init(least: Money(micros: least), most: Money(micros: most ?? least)),
            reserved: .init(least: Money(micros: reserved), most: Money(micros: reserved))
        )
    }

    @Test(arguments: Budget.Period.allCases)
    func `leases end with the amount, and a return makes room`(period: Budget.Period) async throws {
        try await LedgerDatabase.with { database in
            let ledger = database.ledger()
            let budget = Self.budget(amount: 1000, period)
            let first = try #require(try await ledger.lease([Self.ask(budget, 700)]).first)
            #expect(first.open.micros == 700 && first.usedBefore == .zero && first.used.micros == 700)
            #expect(first.left > .zero && first.amount.micros == 1000)
            let second = try #require(try await ledger.lease([Self.ask(budget, 700)]).first)
            #expect(second.open.micros == 300 && second.usedBefore.micros == 700)
            let third = try #require(try await ledger.lease([Self.ask(budget, 1)]).first)
            #expect(third.open == .zero && third.renewal > first.bucket)
            let key = third.key
            try await ledger.giveBack([
                BudgetReturn(key: key, bucket: first.bucket, amount: Money(micros: 150)),
                BudgetReturn(key: key, bucket: first.bucket, amount: Money(micros: 50)),
            ])
            let fourth = try #require(try await ledger.lease([Self.ask(budget, 500)]).first)
            #expect(fourth.open.micros == 200 && fourth.used.micros == 1000)
        }
    }

    @Test func `a lease is what is needed, and more only as far as that is little`() async throws {
        try await LedgerDatabase.with { database in
            let ledger = database.ledger()
            let budget = Self.budget(amount: 6400)
            let lease = try #require(try await ledger.lease([Self.ask(budget, 10, 1000)]).first)
            #expect(lease.open.micros == 100)
            let other = try #require(try await ledger.lease([Self.ask(budget, 300, 1000)]).first)
            #expect(other.open.micros == 300)
        }
    }

    @Test func `the reserve is for confirmed people, who may use all`() async throws {
        try await LedgerDatabase.with { database in
            let ledger = database.ledger()
            let budget = Self.budget(amount: 1000, reserve: 20)
            let lease = try #require(try await ledger.lease([Self.ask(budget, 900, reserved: 50)]).first)
            #expect(lease.open.micros == 800 && lease.reserved.micros == 50)
            let rest = try #require(try await ledger.lease([Self.ask(budget, 1, reserved: 400)]).first)
            #expect(rest.open == .zero && rest.reserved.micros == 150)
        }
    }

    @Test(arguments: [
        ("hour", "50 minutes", true), ("hour", "65 minutes", false), ("day", "22 hours", true),
        ("day", "25 hours", false), ("month", "32 days", false), ("month", "0 hours", true),
    ])
    func `money counts while its step is in the window`(period: String, age: String, isCounted: Bool) async throws {
        try await LedgerDatabase.with { database in
            let ledger = database.ledger()
            let budget = Self.budget(amount: 1000, try #require(Budget.Period(rawValue: period)))
            _ = try await ledger.lease([Self.ask(budget, 600)])
            try await database.script("UPDATE courier.budget_spend s SET bucket = s.bucket - interval '\(age)'")
            let lease = try #require(try await ledger.lease([Self.ask(budget, 1000)]).first)
            #expect(lease.usedBefore.micros == (isCounted ? 600 : 0))
            #expect(lease.open.micros == (isCounted ? 400 : 1000))
            #expect(lease.renewal > lease.bucket)
        }
    }

    @Test func `an operator's amount replaces the policy's until its end`() async throws {
        try await LedgerDatabase.with { database in
            let ledger = database.ledger()
            let budget = Self.budget(amount: 1000)
            _ = try await ledger.lease([Self.ask(budget, 1000)])
            try await database.script(
                """
                INSERT INTO courier.budget_raise (tenant, name, amount, until, reason)
                VALUES ('default', 'day', 1500, clock_timestamp() + interval '1 hour', 'test')
                """
            )
            let raised = try #require(try await ledger.lease([Self.ask(budget, 800)]).first)
            #expect(raised.open.micros == 500 && raised.amount.micros == 1500)
            try await database.script("UPDATE courier.budget_raise r SET until = clock_timestamp()")
            let lease = try #require(try await ledger.lease([Self.ask(budget, 1)]).first)
            #expect(lease.open == .zero && lease.amount.micros == 1000)
        }
    }

    @Test func `a month is in steps of an hour, and has money again in the next one`() async throws {
        try await LedgerDatabase.with { database in
            let lease = try #require(
                try await database.ledger().lease([Self.ask(Self.budget("month", .month), 1000)]).first
            )
            #expect(lease.left > .zero && lease.left <= .seconds(3600))
            let isEnd = try await database.count(
                """
                SELECT count(*) FROM courier.budget_spend s
                WHERE s.bucket = date_trunc('hour', s.bucket)
                    AND to_timestamp($1 / 1000000.0) = (
                        date_trunc('month', s.bucket AT TIME ZONE 'Europe/Berlin') + interval '1 month'
                    ) AT TIME ZONE 'Europe/Berlin'
                """,
                [.int64(lease.renewal.microseconds)]
            )
            #expect(isEnd == 1)
        }
    }

    /// Steps of a day's budget by their age in hours, and the time that is left at the present rate.
    @Test(
        arguments: [
            ([3600, 3600, 3600], 10_800, 0..<1), ([3600, 3600, 3600], 21_600, 800..<10_900),
            ([1, 1, 86_400], 172_800, nil), ([], 1000, nil),
        ] as [([Int64], Int64, Range<Int64>?)]
    )
    func `a forecast goes on at the rate of the last two steps`(
        steps: [Int64],
        amount: Int64,
        left: Range<Int64>?
    ) async throws {
        try await LedgerDatabase.with { database in
            for (age, leased) in steps.enumerated() {
                try await database.script(
                    """
                    INSERT INTO courier.budget_spend (tenant, name, bucket, leased)
                    VALUES ('default', 'day', date_trunc('hour', clock_timestamp(), 'UTC') - interval '\(age) hours', \(leased))
                    """
                )
            }
            let budget = Self.budget()
            let found = try await database.ledger().forecast(budget, of: "default", amount: Money(micros: amount))
            let forecast = try #require(found)
            #expect((forecast.perHour > .zero) == !steps.isEmpty)
            guard let left else {
                #expect(forecast.exhaustedAt == nil)
                return
            }
            let end = try #require(forecast.exhaustedAt)
            let seconds = (end - .now).microseconds / 1_000_000
            #expect(left.contains(seconds + 1) || left.contains(seconds), "\(seconds)")
        }
    }

    /// Days, but for yesterday, of which the next hour costs much and all others little, as does the present one: without
    /// them the budget would last.
    @Test(arguments: [(2, nil), (3, 1), (14, 1)] as [(Int, Int64?)])
    func `a forecast knows the hours of the days before`(days: Int, hours: Int64?) async throws {
        try await LedgerDatabase.with { database in
            let statement = Statement(
                """
                INSERT INTO courier.budget_spend (tenant, name, bucket, leased)
                SELECT 'default', 'day', date_trunc('hour', clock_timestamp(), 'UTC') - n * interval '1 hour',
                    CASE WHEN n > 24 AND n % 24 = 23 THEN 1000000
                        WHEN n = 0 THEN extract(epoch FROM clock_timestamp())::int8 % 3600 ELSE 3600 END
                FROM generate_series(0, $1 * 24) AS n
                """,
                [.int32(Int32(days))]
            )
            try await database.pool.withSession { _ = try $0.execute(statement) }
            let found = try await database.ledger().forecast(
                Self.budget(),
                of: "default",
                amount: Money(micros: 54 * 3600)
            )
            let end = try #require(found).exhaustedAt
            let next = (Timestamp.now + .seconds(3600)).hour
            guard let hours else {
                #expect(end == nil)
                return
            }
            let last = try #require(end)
            #expect(last >= next && last < next + .seconds(3600 * hours))
        }
    }

    @Test func `a time zone that the server does not know stops no other budget`() async throws {
        try await LedgerDatabase.with { database in
            var unknown = Self.budget("unknown", .month)
            unknown.timeZone = "Area/Nowhere"
            let leases = try await database.ledger().lease([
                Self.ask(unknown, 100), Self.ask(Self.budget("known", .month), 100),
            ])
            #expect(leases.map(\.key.name) == ["known"] && leases.first?.open.micros == 100)
            let names = try await database.texts("SELECT b.name FROM courier.budget b")
            #expect(names == ["known"])
            let policy = Policy.test { $0.budgets = [unknown, Self.budget("known", .month)] }
            let faults = try await TimeZoneCheck(database.pool).faults(of: policy)
            #expect(faults.count == 1 && faults[0].contains("the time zone Area/Nowhere of unknown"))
        }
    }

    @Test(arguments: Budget.Period.allCases)
    func `steps of 62 days ago are deleted while the budget is busy`(period: Budget.Period) async throws {
        try await LedgerDatabase.with { database in
            let ledger = database.ledger()
            _ = try await ledger.lease([Self.ask(Self.budget(amount: 1000, period), 100)])
            try await database.script(
                """
                INSERT INTO courier.budget_spend (tenant, name, bucket, leased)
                SELECT 'default', 'day', clock_timestamp() - n * interval '1 day', 1 FROM unnest('{61,63,100}'::int4[]) AS n
                """
            )
            _ = try await ledger.lease([Self.ask(Self.budget(amount: 1000, period), 100)])
            let old = try await database.count(
                "SELECT count(*) FROM courier.budget_spend s WHERE s.bucket < clock_timestamp() - interval '60 days'"
            )
            #expect(old == 1)
        }
    }

    @Test func `an operator's amount is signed by its login, whatever it writes`() async throws {
        try await LedgerDatabase.with { database in
            try await database.withLogin(granted: "courier_operator") { pool in
                let statement = Statement(
                    """
                    INSERT INTO courier.budget_raise AS r (tenant, name, amount, until, reason, created_at, created_by)
                    VALUES ('default', 'day', 1500, clock_timestamp() + interval '1 hour', 'test', 'epoch', 'somebody')
                    ON CONFLICT (tenant, name) DO UPDATE SET created_by = 'somebody else'
                    RETURNING r.created_by = session_user AND r.created_at > now() - interval '1 hour'
                    """
                )
                for _ in 0..<2 {
                    let isSigned = try await pool.withSession { try $0.execute(statement).onlyRow.bool(0) }
                    #expect(isSigned)
                }
            }
        }
    }

    @Test func `a lease waits for one that is not committed yet, and counts it`() async throws {
        try await LedgerDatabase.with { database in
            let ledger = database.ledger()
            let budget = Self.budget(amount: 1000)
            _ = try await ledger.lease([Self.ask(budget, 100)])
            let other = """
                BEGIN;
                SELECT courier.lease_budget('{default}', '{day}', '{day}', '{UTC}', '{USD}', '{1000}', '{0}', '{enforce}',
                    '{700}', '{700}', '{0}', '{0}');
                SELECT pg_advisory_xact_lock(1);
                \(LedgerDatabase.untilSomebodyWaits)
                COMMIT;
                """
            async let held: Void = database.play(other)
            try await database.waitForHolders()
            let lease = try #require(try await ledger.lease([Self.ask(budget, 700)]).first)
            #expect(lease.usedBefore.micros == 800 && lease.open.micros == 200)
            try await held
        }
    }

    @Test func `eight workers that lease and give back at random never hold more than the amount`() async throws {
        try await LedgerDatabase.with { database in
            let budgets = [Self.budget("a", amount: 50_000), Self.budget("b", amount: 70_000, .hour, reserve: 30)]
            let held = try await withThrowingTaskGroup(of: [String: Int64].self) { group in
                for seed in 0..<8 {
                    group.addTask {
                        let ledger = database.ledger()
                        var generator = TestSeed(seed: UInt64(seed))
                        var held: [String: Int64] = [:]
                        for _ in 0..<60 {
                            let asks = budgets.map { budget in
                                let least = Int64.random(in: 0...900, using: &generator)
                                return Self.ask(budget, least, least * 3, reserved: least / 2)
                            }
                            // Another worker's order of the budgets.
                            let leases = try await ledger.lease(seed % 2 == 0 ? asks : asks.reversed())
                            for lease in leases {
                                #expect(lease.used <= lease.amount)
                                held[lease.key.name, default: 0] += (lease.open + lease.reserved).micros
                                let back = Int64.random(in: 0...max(lease.open.micros, 1), using: &generator)
                                let amount = Money(micros: min(back, lease.open.micros))
                                try await ledger.giveBack([
                                    BudgetReturn(key: lease.key, bucket: lease.bucket, amount: amount)
                                ])
                                held[lease.key.name, default: 0] -= amount.micros
                            }
                        }
                        return held
                    }
                }
                return try await group.reduce(into: [String: Int64]()) { $0.merge($1, uniquingKeysWith: +) }
            }
            for budget in budgets {
                let sum = try await database.count(
                    "SELECT sum(s.leased)::int8 FROM courier.budget_spend s WHERE s.name = $1",
                    [.text(budget.name)]
                )
                #expect(sum == held[budget.name])
                #expect(sum <= budget.amount.micros && sum > budget.amount.micros * 9 / 10)
            }
        }
    }
}
