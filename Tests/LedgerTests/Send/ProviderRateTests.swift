// SPDX-License-Identifier: Apache-2.0

import Formats
import PostgresClient
import TestSupport
import Testing
import Verification

@testable import Ledger

/// Tests the rate limits of providers, which all workers of the fleet share.
@Suite struct ProviderRateTests {
    private static func request(_ count: Int, _ rate: Int, per: Duration = .seconds(1)) -> TokenRequest {
        TokenRequest(count: count, rate: RateLimit(count: rate, per: per))
    }

    @Test(.timeLimit(.minutes(10))) func `workers that ask for all they can get share one rate`() async throws {
        let rate = 50
        try await LedgerDatabase.with { database in
            let ledgers = database.ledger()
            let clock = ContinuousClock()
            let start = clock.now
            let taken = try await withThrowingTaskGroup(of: Int.self) { group in
                for _ in 0..<4 {
                    group.addTask {
                        var taken = 0
                        while clock.now - start < .seconds(5) {
                            taken +=
                                try await ledgers.takeTokens(["main": Self.request(1000, rate)])["main"]?.count ?? 0
                        }
                        return taken
                    }
                }
                return try await group.reduce(0, +)
            }
            // A paused machine lengthens the measured time, which raises the number of permitted tokens.
            let seconds = Double((clock.now - start).microseconds) / 1_000_000
            print("provider rate: \(taken) turns in \(seconds) s at \(rate)/s")
            #expect(Double(taken) <= Double(rate) * (seconds + 0.1) + 1)
            #expect(Double(taken) >= Double(rate) * 5 * 0.5)
        }
    }

    @Test func `an idle provider has a tenth of a second's turns at once, and says when the next one comes`()
        async throws
    {
        try await LedgerDatabase.with { database in
            let ledger = database.ledger()
            let first = try #require(
                try await ledger.takeTokens(["main": Self.request(3, 1, per: .seconds(60))])["main"]
            )
            #expect(first.count == 1)
            #expect(first.nextAfter == .seconds(60))
            let second = try #require(
                try await ledger.takeTokens(["main": Self.request(3, 1, per: .seconds(60))])["main"]
            )
            #expect(second.count == 0)
            #expect(second.nextAfter > .seconds(30) && second.nextAfter < .seconds(60))
            let other = try #require(
                try await ledger.takeTokens(["other": Self.request(300, 2000)])["other"]
            )
            #expect(other.count == 200)
            #expect(other.nextAfter <= .milliseconds(1))
        }
    }

    @Test func `one statement takes turns of many providers, each by its own rate`() async throws {
        try await LedgerDatabase.with { database in
            let ledger = database.ledger()
            let wanted = ["b": Self.request(100, 5), "a": Self.request(2, 40), "c": Self.request(0, 1)]
            let grants = try await ledger.takeTokens(wanted)
            #expect(grants.mapValues(\.count) == ["a": 2, "b": 1, "c": 0])
            #expect(try await ledger.takeTokens([:]).isEmpty)
            #expect(try await database.count("SELECT count(*) FROM courier.provider_rate") == 3)
        }
    }

    @Test func `a change of the rate holds from the next statement on`() async throws {
        try await LedgerDatabase.with { database in
            let ledger = database.ledger()
            let slow = Self.request(10, 1, per: .seconds(3600))
            #expect(try await ledger.takeTokens(["main": slow])["main"]?.count == 1)
            #expect(try await ledger.takeTokens(["main": slow])["main"]?.count == 0)
            // The wait is one burst of the new rate, not the hour of the old rate.
            let fast = Self.request(1000, 1000)
            let grant = try #require(try await ledger.takeTokens(["main": fast])["main"])
            #expect(grant.count == 0)
            #expect(grant.nextAfter < .seconds(1))
            let deadline = ContinuousClock.now + .seconds(20)
            var taken = 0
            while taken < 1000, ContinuousClock.now < deadline {
                taken += try await ledger.takeTokens(["main": fast])["main"]?.count ?? 0
            }
            #expect(taken >= 1000)
            let slower = Self.request(1000, 10)
            var rest = 0
            for _ in 0..<5 { rest += try await ledger.takeTokens(["main": slower])["main"]?.count ?? 0 }
            #expect(rest <= 20)
        }
    }

    @Test func `no size of a request or a rate fails`() async throws {
        try await LedgerDatabase.with { database in
            let ledger = database.ledger()
            let counts = [Int.min, -1, 0, 1, Int.max]
            let rates = [
                (1, Duration.seconds(3600)), (1_000_000, .seconds(1)), (Int.max, .microseconds(1)), (0, .zero),
            ]
            for (rate, per) in rates {
                for count in counts {
                    for _ in 0..<2 {
                        let grant = try await ledger.takeTokens(["main": Self.request(count, rate, per: per)])["main"]
                        #expect((0...1_000_000).contains(try #require(grant).count))
                    }
                }
            }
        }
    }

    @Test func `a worker's login takes turns and can forget none`() async throws {
        try await LedgerDatabase.with { database in
            try await database.withLogin(granted: "courier_worker") { pool in
                let grants = try await database.ledger(on: pool).takeTokens(["main": Self.request(1, 1)])
                #expect(grants["main"]?.count == 1)
                await #expect(throws: PostgresError.self) {
                    try await pool.withSession { try $0.script("DELETE FROM courier.provider_rate") }
                }
            }
        }
    }

    @Test func `turns are taken by the provider's key and no table is read`() async throws {
        try await LedgerDatabase.with { database in
            try await database.script(
                """
                INSERT INTO courier.provider_rate SELECT 'p' || n, now(), 0 FROM generate_series(1, 20000) n;
                CREATE FUNCTION plan_of() RETURNS text LANGUAGE plpgsql AS $$
                DECLARE
                    plan json;
                BEGIN
                    EXECUTE 'EXPLAIN (FORMAT JSON) EXECUTE probe(ARRAY[''a'', ''b''], ARRAY[1, 1], ARRAY[1, 1], ARRAY[1, 1], 1)'
                    INTO plan;
                    RETURN plan;
                END
                $$
                """
            )
            let plan = try await database.pool.withSession { session in
                try session.script("PREPARE probe AS \(PostgresLedger.take([:]))")
                defer { try? session.script("DEALLOCATE probe") }
                return try session.execute(Statement("SELECT plan_of()")).onlyRow.text(0)
            }
            #expect(plan.contains(#""Conflict Arbiter Indexes": ["provider_rate_pkey"]"#))
            for node in ["Seq Scan", "Index Scan", "Index Only Scan", "Bitmap Heap Scan"] {
                #expect(!plan.contains(#""Node Type": "\#(node)""#), "\(plan)")
            }
        }
    }
}
