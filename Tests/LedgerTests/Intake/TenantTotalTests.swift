// SPDX-License-Identifier: Apache-2.0

import Ledger
import PostgresClient
import TestSupport
import Testing

/// Tests the running totals of a tenant's admissions, which make a window's cost independent of its batches.
@Suite struct TenantTotalTests {
    /// Number of window starts for which the running total differs from the sum of the rows.
    private static let differences: StaticString = """
        SELECT count(*) FROM generate_series(0, 70) AS s(seconds)
        CROSS JOIN LATERAL (SELECT now() - s.seconds * interval '1 second') AS m(since)
        WHERE (SELECT u.count FROM courier.tenant_usage('default', m.since) AS u) <> (
            SELECT coalesce(sum(a.count), 0) FROM courier.tenant_admission a
            WHERE a.tenant = 'default' AND a.admitted_at > m.since
        )
        """

    private static let minute = """
        INSERT INTO courier.tenant_admission (tenant, admitted_at, count)
        SELECT t.tenant, now() - n * interval '250 milliseconds', 1 + n % 7
        FROM generate_series(240, 1, -1) n CROSS JOIN (VALUES ('default'), ('other')) AS t(tenant)
        """

    @Test func `a window is what its rows come to, also when old rows are gone and all of them`() async throws {
        try await LedgerDatabase.with { database in
            #expect(try await database.count(Self.differences) == 0)
            try await database.script(Self.minute)
            #expect(try await database.count(Self.differences) == 0)
            try await database.script(
                "DELETE FROM courier.tenant_admission WHERE admitted_at < now() - interval '20 seconds'"
            )
            try await database.script(Self.minute)
            #expect(try await database.count(Self.differences) == 0)
            try await database.script("DELETE FROM courier.tenant_admission")
            let all: StaticString = "SELECT u.count FROM courier.tenant_usage('default', '-infinity') AS u"
            #expect(try await database.count(all) == 0)
        }
    }

    @Test func `an admission is not earlier than the one before it, nor later than now`() async throws {
        try await LedgerDatabase.with { database in
            try await database.script(Self.minute)
            try await database.script(
                """
                -- The clock is a day ahead, and set back; then a worker comes that read the time before another one.
                UPDATE courier.tenant_admission SET admitted_at = admitted_at + interval '1 day'
                WHERE id > (SELECT max(id) - 10 FROM courier.tenant_admission);
                INSERT INTO courier.tenant_admission (tenant, admitted_at, count) VALUES ('default', now(), 5);
                INSERT INTO courier.tenant_admission (tenant, admitted_at, count)
                VALUES ('default', now() - interval '3 seconds', 2);
                """
            )
            let unordered: StaticString = """
                SELECT count(*) FROM (
                    SELECT total < lag(total) OVER (ORDER BY admitted_at, id) AS is_less, admitted_at > now() AS is_late
                    FROM courier.tenant_admission WHERE tenant = 'default'
                ) AS rows WHERE is_less OR is_late
                """
            #expect(try await database.count(unordered) == 0)
            #expect(try await database.count(Self.differences) == 0)
        }
    }

    @Test func `a clock that was set back behind what was forgotten lets a batch through, and counts it`() async throws
    {
        try await LedgerDatabase.with { database in
            try await database.script(Self.minute)
            try await database.script(
                """
                UPDATE courier.tenant_admission SET admitted_at = admitted_at + interval '1 day';
                INSERT INTO courier.tenant_gate (tenant, forgotten_at) VALUES ('default', now() + interval '12 hours');
                SELECT courier.admit_tenants('{default}', '{5}', now(), '{default}', '{100000}', '{60000}');
                """
            )
            #expect(try await database.count(Self.differences) == 0)
            await #expect(throws: (any Error).self) {
                try await database.script(
                    "SELECT courier.admit_tenants('{default}', '{5}', now(), '{default}', '{9}', '{60000}')"
                )
            }
        }
    }

    @Test(.timeLimit(.minutes(2)))
    func `who waits for a gate holds no later one, not even a new one`() async throws {
        try await LedgerDatabase.with(connections: 3) { database in
            try await database.script("INSERT INTO courier.tenant_gate (tenant) VALUES ('a')")
            async let first: Void = database.play(Self.lockNewGateLater)
            try await database.waitForHolders()
            try await database.script("SELECT courier.lock_tenants('{a,b}')")
            try await first
        }
    }

    private static let lockNewGateLater = """
        BEGIN;
        SELECT courier.lock_tenants('{a}');
        SELECT pg_advisory_xact_lock(1);
        \(LedgerDatabase.untilSomebodyWaits)
        SELECT courier.admit_tenants('{b}', '{1}', now(), '{b}', '{9}', '{60000}');
        COMMIT;
        """

    @Test func `old admissions are forgotten by the longest limit, a minute of them at once`() async throws {
        try await LedgerDatabase.with { database in
            try await database.script(Self.minute)
            // Admits under limits of 1 and 20 seconds, `%s` seconds from now.
            let admit = """
                SELECT courier.admit_tenants(
                    '{default}', '{1}', now() + interval '%s seconds', '{default,default}', '{100000,100000}', '{1000,20000}'
                )
                """
            func old(after seconds: Int) async throws -> Int64 {
                try await database.script(admit.replacing("%s", with: "\(seconds)"))
                return try await database.count(
                    "SELECT count(*) FROM courier.tenant_admission WHERE tenant = 'default' AND admitted_at < now()"
                )
            }
            // The oldest row is older than the longest limit, but the minute for which rows are kept is not over.
            #expect(try await old(after: 70) == 240)
            // Each call deletes a hundred rows at most; the remaining ones are younger than a minute.
            #expect(try await old(after: 85) == 140)
            #expect(try await old(after: 86) == 140)
            #expect(try await old(after: 110) == 40)
            #expect(try await database.count(Self.differences) == 0)
        }
    }

    @Test func `a limit breaks by the admission that is one too many, in any of its windows`() async throws {
        try await LedgerDatabase.with { database in
            try await database.script(Self.minute)
            // All statements use the same moment, however long they take.
            let moment = try #require(try await database.text("SELECT now()::text"))
            func admit(_ counts: String, per milliseconds: String) async -> Bool {
                do {
                    try await database.script(
                        """
                        SELECT courier.admit_tenants(
                            '{default}', '{2}', '\(moment)', '{default,default}', '{\(counts)}', '{\(milliseconds)}'
                        )
                        """
                    )
                    return true
                } catch {
                    return false
                }
            }
            let second = try await database.count(
                "SELECT u.count FROM courier.tenant_usage('default', $1::text::timestamptz - interval '1 second') AS u",
                [.text(moment)]
            )
            #expect(await admit("\(second + 1),100000", per: "1000,60000") == false)
            #expect(await admit("100000,\(second + 1)", per: "60000,1000") == false)
            #expect(await admit("\(second + 2),100000", per: "1000,60000"))
        }
    }
}
