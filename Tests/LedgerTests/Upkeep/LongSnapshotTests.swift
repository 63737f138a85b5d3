// SPDX-License-Identifier: Apache-2.0

import Formats
import Ledger
import PostgresClient
import TestSupport
import TestTools
import Testing
import Verification

/// Measures the cost of work while a snapshot keeps 100,000 dead rows from removal, as `pg_dump` does for hours.
@Suite struct LongSnapshotTests {
    private static let dead: Int64 = 100_000

    /// Maximum of index entries that a sweep, an intake or a publication of a few records may read.
    private static let reads: Int64 = 500

    @Test(.timeLimit(.minutes(5))) func `only now and then a sweep passes by what is dead in the outbox`() async throws
    {
        try await withSnapshot { database, pool in
            try await database.script(
                """
                INSERT INTO courier.outbox (stream, sequence, dead_letter, headers, lease_until)
                SELECT gen_random_uuid(), 1, true, '', clock_timestamp() - interval '1 hour' + n * interval '1 ms'
                FROM generate_series(1, 100000) n;
                DELETE FROM courier.outbox;
                """
            )
            let worker = LedgerWorker(database.ledger(on: pool))
            let first = try await ReadCost.measure(pool) { _ = try await worker.ledger.sweepOutbox() }
            #expect(first.entries["outbox", default: 0] >= Self.dead, "the first one must, or this test shows nothing")

            let claims = try await worker.claims(3)
            let sent = try await worker.settle(claims, .sent)
            let told = try await ReadCost.measure(pool) { try await worker.ledger.published(sent.outbox) }
            #expect(told.largest <= Self.reads, "\(told)")
            var least = Int64.max
            for round in 1...3 {
                let more = try await worker.intake(.people(3, round: round, at: try await worker.now()))
                try await database.lapseOutbox()
                var swept: [OutboxRecord] = []
                let cost = try await ReadCost.measure(pool) { swept = try await worker.ledger.sweepOutbox() }
                #expect(swept.count == more.outbox.count)
                least = min(least, cost.largest)
                try await worker.ledger.published(swept)
            }
            // Every ten seconds a sweep reads the index from its start, and on a busy machine each round can hit that.
            // So the test checks the cheapest round.
            #expect(least <= Self.reads)
            let gauge = database.ledger(on: pool)
            _ = try await gauge.sweepOutbox()
            let counted = try await ReadCost.measure(pool) { _ = try await gauge.backlog() }
            #expect(counted.entries["outbox", default: 0] <= Self.reads, "\(counted)")
        }
    }

    @Test(.timeLimit(.minutes(5))) func `a backlog is swept from its beginning on, and not from what was swept before`()
        async throws
    {
        try await withSnapshot { database, pool in
            try await database.script(
                """
                INSERT INTO courier.outbox (stream, sequence, dead_letter, headers, lease_until)
                SELECT gen_random_uuid(), 1, true, '', clock_timestamp() - interval '1 hour' + n * interval '20 ms'
                FROM generate_series(1, 101000) n;
                DELETE FROM courier.outbox WHERE lease_until < clock_timestamp() - interval '1 hour' + interval '2000 s';
                """
            )
            let ledger = database.ledger(on: pool, sweepSize: 20)
            _ = try await ledger.sweepOutbox()
            for _ in 1...5 {
                var swept: [OutboxRecord] = []
                let cost = try await ReadCost.measure(pool) { swept = try await ledger.sweepOutbox() }
                #expect(swept.count == 20)
                #expect(cost.largest <= Self.reads + 250, "a margin of 5 s of them: \(cost)")
            }
        }
    }

    @Test(.timeLimit(.minutes(5))) func `a tenant's gate is not held for longer by admissions that were forgotten`()
        async throws
    {
        try await withSnapshot { database, pool in
            try await database.script(
                """
                SET LOCAL statement_timeout = 0;
                INSERT INTO courier.tenant_admission (tenant, admitted_at, count)
                SELECT 'default', clock_timestamp() - interval '2 hours' + n * interval '1 ms', 1
                FROM generate_series(1, 100000) n;
                DO $$
                BEGIN
                    FOR i IN 1..1000 LOOP
                        PERFORM courier.admit_tenants(
                            ARRAY['default'], ARRAY[1], clock_timestamp(), ARRAY['default'], ARRAY[1000000], ARRAY[60000]
                        );
                    END LOOP;
                END
                $$;
                """
            )
            #expect(try await database.count("SELECT count(*) FROM courier.tenant_admission") == 1000)
            let worker = LedgerWorker(database.ledger(on: pool), policy: .counting)
            let now = try await worker.now()
            for round in 0..<3 {
                let cost = try await ReadCost.measure(pool) {
                    _ = try await worker.intake(.people(3, from: 3 * round, at: now))
                }
                #expect(cost.entries["tenant_admission", default: 0] <= Self.reads, "\(cost)")
            }
        }
    }

    @Test func `how long the oldest snapshot has stood is told to a worker's login`() async throws {
        try await withSnapshot { database, _ in
            try await database.withLogin(granted: "courier_worker", connections: 1) { pool in
                let ledger = database.ledger(on: pool)
                #expect(try await ledger.backlog().snapshotAge == .zero)
                try await database.script("CREATE TABLE courier.touched (); DROP TABLE courier.touched")
                _ = try await ledger.backlog()
                try await eventually("it is told") { try await ledger.backlog().snapshotAge > .milliseconds(50) }
            }
        }
    }

    /// Provides a database with one connection, while another session holds a snapshot older than the body's work.
    private func withSnapshot(_ body: (LedgerDatabase, PostgresPool) async throws -> Void) async throws {
        try await LedgerDatabase.with { database in
            // The sleeping statement holds the snapshot. It is cancelled when the body returns.
            async let _ = database.play(
                """
                SET statement_timeout = 0;
                BEGIN ISOLATION LEVEL REPEATABLE READ;
                SELECT pg_advisory_xact_lock(1);
                SELECT pg_sleep(600);
                """
            )
            try await database.waitForHolders()
            try await database.withPool(connections: 1, settings: PostgresLedger.sessionSettings) { pool in
                try await body(database, pool)
            }
        }
    }
}
