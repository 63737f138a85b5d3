// SPDX-License-Identifier: Apache-2.0

import Ledger
import PostgresClient
import TestSupport
import Testing
import Verification

/// Retention over many days, which a clock of the test's own lets pass.
@Suite struct RetentionTests {
    /// How far the clock moves between two rounds, so that rounds come at every time of a day.
    private static let step = Duration.seconds(7 * 3600)

    @Test(.timeLimit(.minutes(10))) func `in sixty days no row goes early, and none stays behind`() async throws {
        try await ClockedDatabase.with { clocked in
            try await clocked.forbidDeletes()
            let database = clocked.database
            let worker = LedgerWorker(database.ledger(), policy: .counting)
            let start = try await clocked.today()
            var made: [Timestamp] = []
            for round in 0..<(60 * 24 / 7) {
                let now = start + Self.step * round
                try await clocked.set(now)
                made += try await Self.work(worker, round: round, at: now)
                try await worker.ledger.maintain()
                try await expectKept(made, database, at: now)
            }
            #expect(made.count > 800)

            for days in 1...3 {
                try await clocked.set(start + .seconds((60 + days) * 86_400))
                _ = try await worker.ledger.sweepReceipts()
                _ = try await worker.ledger.sweepExpired()
                try await worker.ledger.maintain()
            }
            for record in try await worker.ledger.sweepOutbox() { try await worker.ledger.published([record]) }
            #expect(try await database.leftBehind() == [])
        }
    }

    @Test(.timeLimit(.minutes(10))) func `a reader of an old day delays its end, and keeps no worker for long`()
        async throws
    {
        try await ClockedDatabase.with(connections: 6) { clocked in
            let database = clocked.database
            let worker = LedgerWorker(database.ledger())
            let start = try await clocked.today()
            try await clocked.set(start)
            try await worker.ledger.maintain()
            _ = try await worker.claims(1)
            try await database.script(
                "UPDATE courier.send SET lease_until = NULL; UPDATE courier.verification SET ended_at = '2000-01-01Z'"
            )
            try await clocked.set(start + .seconds(3 * 86_400))
            let reader = PostgresConnection(PostgresConfiguration(url: database.url))
            // Held for longer than the maintenance waits for a lock.
            async let reading: Void = reader.run { session in
                try session.script("BEGIN; SELECT FROM courier.verification_other; SELECT pg_sleep(6); COMMIT")
            }
            try await database.waitForLock(isGranted: true)
            async let refused: SQLState? = {
                do {
                    try await worker.ledger.maintain()
                    return nil
                } catch {
                    return (error as? PostgresError)?.sqlState
                }
            }()
            try await database.waitForLock(isGranted: false)
            // Every worker stands behind the maintenance now, which gives up long before their own patience ends.
            let began = ContinuousClock.now
            try await eventually("a request is decided, however often it is tried") {
                try await worker.claimsUnlessLocked(1, from: 5)?.count == 1
            }
            #expect(ContinuousClock.now - began < .seconds(5))
            #expect(await refused == .lockNotAvailable)
            try await reading
            await reader.close()
            // It is tried again an hour later.
            try await clocked.set(start + .seconds(3 * 86_400 + 3601))
            try await worker.ledger.maintain()
            #expect(try await database.count("SELECT count(*) FROM courier.verification") == 1)
        }
    }

    /// One round of a worker: new people, some of whom come again, and a receipt for nobody.
    private static func work(_ worker: LedgerWorker, round: Int, at now: Timestamp) async throws -> [Timestamp] {
        let claims = try await worker.intake(.people(4, from: round * 4, round: round, at: now)).value
        try await worker.publish(try await worker.settle(Array(claims.dropLast()), .sent))
        try await worker.publish(try await worker.settle(claims.suffix(1), .failed(.providerRefused)))
        try await worker.publish(try await worker.ledger.sweepExpired())
        let stray = Receipt(provider: "main", sendID: nil, providerMessageID: "SM-\(round)", status: .delivered)
        try await worker.publish(try await worker.ledger.receive([ReceivedReceipt(stray)], deadLetters: []))
        try await worker.publish(try await worker.ledger.sweepReceipts())
        return claims.map { _ in now }
    }

    /// Everything of the last 24 hours is there, and nothing that is older than a partition of a whole day can hold.
    private func expectKept(_ made: [Timestamp], _ database: LedgerDatabase, at now: Timestamp) async throws {
        let (kept, limit) = (now - .seconds(86_400), now - .seconds(2 * 86_400 + 3600) - Self.step)
        let young = Int64(made.count { $0 >= kept })
        let possible = Int64(made.count { $0 >= limit })
        for table in ["verification", "send", "request"] {
            let rows = try await database.rows(of: table)
            #expect((young...possible).contains(rows), "\(table) at \(now): \(rows), not \(young) to \(possible)")
        }
        #expect(try await database.rows(of: "slot") <= possible + 4)
        #expect(try await database.rows(of: "limit_window") <= 4)
        #expect(try await database.rows(of: "receipt") <= 2)
        #expect(try await database.rows(of: "tenant_admission") <= 2)
        let partitions = try await database.count(
            "SELECT count(*) FROM pg_inherits i WHERE i.inhparent = 'courier.verification'::regclass"
        )
        // At most two days that are over, today, three days ahead and the one for strays; the first rounds have those
        // that the migration made at the real time.
        #expect((6...8).contains(partitions), "\(partitions) at \(now)")
    }
}

extension ClockedDatabase {
    /// The real time, where the partitions that the migration made are.
    fileprivate func today() async throws -> Timestamp {
        let microseconds = try await database.count(
            "SELECT (extract(epoch FROM pg_catalog.clock_timestamp()) * 1000000)::bigint"
        )
        try await database.script(
            """
            ALTER FUNCTION courier.is_due(timestamptz) SET search_path = fake, pg_catalog, pg_temp;
            ALTER FUNCTION courier.oldest_kept(interval) SET search_path = fake, pg_catalog, pg_temp;
            ALTER FUNCTION courier.take_partitions() SET search_path = fake, pg_catalog, pg_temp;
            ALTER FUNCTION courier.maintain_days(text, interval, integer) SET search_path = fake, pg_catalog, pg_temp;
            ALTER FUNCTION courier.forget_slices(interval, integer) SET search_path = fake, pg_catalog, pg_temp;
            """
        )
        return Timestamp(microseconds: microseconds)
    }

    /// Lets every deletion of a row that has a partition fail: days end as a whole.
    fileprivate func forbidDeletes() async throws {
        try await database.script(
            """
            CREATE FUNCTION fake.refuse() RETURNS trigger LANGUAGE plpgsql
                AS $$ BEGIN RAISE EXCEPTION 'a row is deleted'; END $$;
            CREATE TRIGGER kept BEFORE DELETE ON courier.verification FOR EACH ROW EXECUTE FUNCTION fake.refuse();
            CREATE TRIGGER kept BEFORE DELETE ON courier.send FOR EACH ROW EXECUTE FUNCTION fake.refuse();
            CREATE TRIGGER kept BEFORE DELETE ON courier.request FOR EACH ROW EXECUTE FUNCTION fake.refuse();
            """
        )
    }
}

extension LedgerDatabase {
    fileprivate func rows(of table: String) async throws -> Int64 {
        try await count(
            """
            SELECT (xpath('//c/text()', query_to_xml('SELECT count(*) AS c FROM courier.' || $1, false, true, '')))[1]
                ::text::bigint
            """,
            [.text(table)]
        )
    }

    /// Waits until somebody holds, or waits for, the partition for strays.
    fileprivate func waitForLock(isGranted: Bool) async throws {
        try await eventually("a lock is \(isGranted ? "held" : "waited for")") {
            try await count(
                "SELECT count(*) FROM pg_locks WHERE relation = 'courier.verification_other'::regclass AND granted = $1",
                [.bool(isGranted)]
            ) > 0
        }
    }

    /// The tables of people that are not empty.
    fileprivate func leftBehind() async throws -> [String] {
        var left: [String] = []
        for table in ["verification", "send", "request", "slot", "limit_window", "receipt", "outbox"]
        where try await rows(of: table) > 0 {
            left.append(table)
        }
        return left
    }
}
