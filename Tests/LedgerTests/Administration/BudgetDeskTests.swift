// SPDX-License-Identifier: Apache-2.0

import Administration
import Formats
import Ledger
import PostgresClient
import TestSupport
import Testing
import Verification

@Suite struct BudgetDeskTests {
    private static func budget(_ name: String, _ amount: Int64, _ period: Budget.Period = .day) -> Budget {
        Budget(name: name, amount: Money(micros: amount), currency: "USD", period: period)
    }

    private static func lease(_ budget: Budget, _ amount: Int64, in database: LedgerDatabase) async throws {
        let need = BudgetAsk.Need(least: Money(micros: amount), most: Money(micros: amount))
        _ = try await database.ledger().lease([
            BudgetAsk(tenant: "default", budget: budget, open: need, reserved: .none)
        ])
    }

    @Test func `an operator's login reads what is leased of a policy's budgets, with an operator's amount`()
        async throws
    {
        try await LedgerDatabase.with { database in
            try await Self.lease(Self.budget("a", 1000), 800, in: database)
            try await Self.lease(Self.budget("b", 1000), 800, in: database)
            let policy = Policy.test { tenant in
                tenant.budgets = [
                    Self.budget("a", 500), Self.budget("b", 500, .hour), Self.budget("new", 500, .month),
                ]
            }
            try await database.withLogin(granted: "courier_operator") { pool in
                let desk = BudgetDesk(pool: pool)
                let key = BudgetKey(tenant: "default", name: "a")
                var leased = try await desk.leased(of: policy)
                #expect(leased.map(\.key.name) == ["a", "b", "new"])
                #expect(leased.map(\.leased.micros).first == 800 && leased.map(\.leased.micros).last == 0)
                #expect(leased.map(\.overshoot.micros).first == 300 && leased.map(\.overshoot.micros).last == 0)
                _ = try await desk.raise(key, to: Money(micros: 700), lasting: .seconds(60), reason: "test")
                leased = try await desk.leased(of: policy)
                #expect(leased.first == LeasedBudget(key: key, amount: Money(micros: 700), leased: Money(micros: 800)))
                let state = try #require(try await desk.states(tenant: "default").first)
                #expect(state.key == key && state.forecast.perHour > .zero && state.raise?.amount.micros == 700)
                // It is used up already.
                #expect(state.forecast.exhaustedAt != nil)
            }
        }
    }

    /// Verifications of two minutes: each with one or two messages, whose ids are of the verification's time.
    private static let messages = """
        INSERT INTO courier.verification (
            id, request_id, tenant, purpose, channel, fingerprint, region, masked, seal_key, code_key, hash_key,
            generation, code_hash, code_length, state, max_checks, sends_used, max_sends, send_open, sequence,
            resend_after, expires_at, policy_version, confirmed, fictional
        )
        SELECT (left(courier.uuid_floor('2026-11-20 12:00:30+00'::timestamptz + n * interval '20 seconds')::text, 13)
                || '-7000-8000-' || lpad(n::text, 12, '0'))::uuid,
            'r-' || n, 'default', 'sign_in', 'sms', sha256(n::text::bytea), 'DE', '+4******1', 1, 1, 1, 1,
            sha256(n::text::bytea), 6, CASE n WHEN 0 THEN 'approved' ELSE 'expired' END, 5, 1, 5, false, 1,
            clock_timestamp(), '2026-11-20 12:10:00+00', 'test', n = 2, n = 5
        FROM generate_series(0, 5) AS n;
        INSERT INTO courier.send (
            id, verification_id, number, generation, state, deadline, resend_window_ms, rendering, provider, segments
        )
        SELECT (left(v.id::text, 24) || lpad((n * 10 + number)::text, 12, '0'))::uuid, v.id, number, 1,
            CASE n WHEN 4 THEN 'failed' WHEN 3 THEN 'unknown' ELSE 'sent' END, '2026-11-20 12:10:00+00', 60000, '',
            CASE WHEN n <> 3 THEN 'main' END, CASE WHEN n <> 3 THEN 2 END
        FROM (SELECT v.id, right(v.request_id, 1)::int AS n FROM courier.verification v) AS v,
            generate_series(1, CASE v.n WHEN 1 THEN 2 ELSE 1 END) AS number;
        """

    @Test func `messages of the past are added up by minute, those that did not leave are left out`() async throws {
        try await LedgerDatabase.with { database in
            try await database.script(Self.messages)
            try await database.withLogin(granted: "courier_operator") { pool in
                let desk = BudgetDesk(pool: pool)
                let noon = try #require(Timestamp(rfc3339: "2026-11-20T12:00:00Z"))
                func past(
                    _ minute: Int,
                    _ provider: String? = "main",
                    segments: Int = 2,
                    isConfirmed: Bool = false,
                    isFirst: Bool = true,
                    isApproved: Bool = false
                ) -> PastMessages {
                    PastMessages(
                        minute: noon + .seconds(60) * minute,
                        tenant: "default",
                        purpose: .signIn,
                        channel: .sms,
                        region: Region("DE") ?? .unknown,
                        provider: provider,
                        segments: segments,
                        isConfirmed: isConfirmed,
                        isFirst: isFirst,
                        isApproved: isApproved,
                        count: 1
                    )
                }
                let all = try await desk.history(from: noon, to: noon + .seconds(600))
                // 12:00:30 and 12:00:50, the second with two messages; 12:01:10 and, unknown, 12:01:30.
                #expect(
                    all == [
                        past(0, isFirst: false), past(0), past(0, isApproved: true),
                        past(1, isConfirmed: true), past(1, nil, segments: 1),
                    ]
                )
                #expect(try await desk.history(from: noon + .seconds(60), to: noon + .seconds(600)).count == 2)
                #expect(try await desk.history(from: noon + .seconds(120), to: noon + .seconds(600)).isEmpty)
            }
        }
    }

    @Test func `hours whose messages are dropped are read from their sums`() async throws {
        try await LedgerDatabase.with { database in
            try await database.script(Self.messages)
            try await database.script(
                """
                INSERT INTO courier.conversion (hour, tenant, region, provider, confirmed, verifications, approved, sends,
                    within_15, within_30, within_60, within_120, within_240, within_600)
                SELECT hour, 'default', 'GB', '', true, 90, 60, 100, 0, 0, 0, 0, 0, 60
                FROM unnest('{2026-11-20 11:00:00+00,2026-11-20 12:00:00+00}'::timestamptz[]) AS hour
                """
            )
            try await database.withLogin(granted: "courier_operator") { pool in
                let noon = try #require(Timestamp(rfc3339: "2026-11-20T12:00:00Z"))
                let desk = BudgetDesk(pool: pool)
                let past = try await desk.history(from: noon - .seconds(3600), to: noon + .seconds(60))
                let hour = past.filter(\.isByHour)
                #expect(past.filter { !$0.isByHour }.reduce(0) { $0 + $1.count } == 3)
                // The hour of the first stored message is read from messages alone.
                #expect(
                    hour.allSatisfy { $0.minute < noon && $0.purpose == nil && $0.provider == nil && $0.isConfirmed }
                )
                #expect(hour.reduce(0) { $0 + $1.count } == 100)
                #expect(hour.filter(\.isFirst).reduce(0) { $0 + $1.count } == 90)
                #expect(hour.filter(\.isApproved).map(\.count) == Array(repeating: 1, count: 60))
                let part = try await desk.history(from: noon - .seconds(600), to: noon)
                #expect(part.filter(\.isApproved).count == 10)
            }
        }
    }
}
