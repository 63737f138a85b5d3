// SPDX-License-Identifier: Apache-2.0

import Formats
import Ledger
import PostgresClient
import TestSupport
import TestTools
import Testing
import Verification

/// Tests retention over many days, by a clock that the test moves.
@Suite struct RetentionTests {
    /// Time between two rounds, chosen so that rounds cover every hour of the day.
    private static let step = Duration.seconds(7 * 3600)

    @Test(.timeLimit(.minutes(10))) func `in sixty days no row goes early, and none stays behind`() async throws {
        try await ClockedDatabase.with { clocked in
            try await clocked.forbidDeletes()
            let database = clocked.database
            let worker = LedgerWorker(database.ledger(), policy: .counting)
            let start = try await clocked.noon()
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

    /// Queries that read an old day, with the number of new days that can be created meanwhile.
    ///
    /// No day can be created while a query reads the partition for rows outside all days.
    private static let readers: [(query: String, days: Int64)] = [
        ("SELECT FROM courier.%", 3), ("SELECT FROM courier.verification WHERE id = '#'", 3),
        ("SELECT FROM courier.verification_other", 0), ("SELECT FROM courier.verification", 0),
    ]

    @Test(.timeLimit(.minutes(10)), arguments: readers)
    func `a reader of an old day delays its end, stops nothing else, and keeps no worker for long`(
        reader: (query: String, days: Int64)
    ) async throws {
        try await ClockedDatabase.with(connections: 6) { clocked in
            let database = clocked.database
            let worker = LedgerWorker(database.ledger())
            let start = try await clocked.noon()
            try await clocked.set(start)
            try await worker.ledger.maintain()
            let claim = try await worker.claim()
            try await database.script(
                "DELETE FROM courier.parcel; UPDATE courier.verification SET ended_at = '2000-01-01Z'"
            )
            let days: StaticString =
                "SELECT count(*) FROM pg_inherits WHERE inhparent = 'courier.verification'::regclass"
            #expect(try await database.count(days) == 6)
            try await clocked.set(start + .seconds(3 * 86_400))
            let query = reader.query.replacing("%", with: try await database.oldestDay())
                .replacing("#", with: "\(claim.reference.verificationID)")
            // The reader continues until maintenance has returned and a request is decided, or for a minute.
            let released = LedgerDatabase.waiting(for: "SELECT FROM pg_class WHERE relname = 'released'")
            async let reading: Void = database.play(
                "BEGIN; \(query); SELECT pg_advisory_xact_lock(1); \(released) COMMIT"
            )
            try await database.waitForHolders()
            async let age = worker.ledger.maintain()
            try await eventually("a request is decided, however often it is tried") {
                try await worker.claimsUnlessLocked(1, from: 5)?.count == 1
            }
            #expect(try await age > .seconds(86_400))
            #expect(try await database.holders == 1, "nobody waits for the reader")
            // Of three days past retention two are dropped if the query reads one day's table, not the parent.
            let gone = try await database.count(days) - 6 - reader.days
            #expect(reader.query.contains("%") ? (-2...(-1)).contains(gone) : gone == 0, "\(gone)")
            #expect(try await database.count("SELECT count(*) FROM courier.send") == 1, "the new one")
            try await database.script("CREATE TABLE public.released ()")
            try await reading
            // Maintenance retries five minutes later.
            try await clocked.set(start + .seconds(3 * 86_400 + 301))
            #expect(try await worker.ledger.maintain() < .seconds(60))
            #expect((6...8).contains(try await database.count(days)))
        }
    }

    @Test func `no lock that any login may take stops maintenance, and a locked table does not count as done`()
        async throws
    {
        try await LedgerDatabase.with { database in
            let ledger = LedgerWorker(database.ledger()).ledger
            // Any login may take any advisory lock, so the ledger's functions use none.
            let advisory: StaticString = """
                SELECT count(*) FROM pg_proc WHERE pronamespace = 'courier'::regnamespace AND prosrc ~ 'advisory'
                """
            #expect(try await database.count(advisory) == 0)
            // Only the owner's functions can lock a row of this table.
            try await database.script(
                """
                UPDATE courier.day_table SET whole_at = clock_timestamp() - interval '10 days';
                UPDATE courier.maintenance SET due_at = '-infinity';
                """
            )
            let holder = PostgresConnection(PostgresConfiguration(url: database.url))
            async let holding: Void = holder.run { session in
                try session.script(
                    """
                    BEGIN; SELECT FROM courier.day_table WHERE parent = 'send' FOR UPDATE;
                    SELECT pg_advisory_xact_lock(1), pg_sleep(1); COMMIT
                    """
                )
            }
            try await database.waitForHolders()
            #expect(try await ledger.maintain() > .seconds(9 * 86_400))
            try await holding
            await holder.close()
        }
    }

    /// Runs one round of a worker: new people, repeated requests, and a receipt that matches no send.
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

    /// Checks that the last 24 hours are kept, and that rows older than a whole-day partition allows are gone.
    private func expectKept(_ made: [Timestamp], _ database: LedgerDatabase, at now: Timestamp) async throws {
        let (kept, limit) = (now - .seconds(86_400), now - .seconds(2 * 86_400 + 3600) - Self.step)
        let young = Int64(made.count { $0 >= kept })
        let possible = Int64(made.count { $0 >= limit })
        for table in ["verification", "send", "request"] {
            let rows = try await database.rows(of: table)
            #expect((young...possible).contains(rows), "\(table) at \(now): \(rows), not \(young) to \(possible)")
        }
        #expect((young...possible + 4).contains(try await database.rows(of: "person")))
        #expect(try await database.rows(of: "limit_window") <= 4)
        #expect(try await database.rows(of: "receipt") <= 2)
        #expect(try await database.rows(of: "tenant_admission") <= 2)
        let partitions = try await database.count(
            "SELECT count(*) FROM pg_inherits i WHERE i.inhparent = 'courier.verification'::regclass"
        )
        // At most two past days, today, three days ahead and the partition for other days. In the first rounds the
        // migration's own partitions, made at the real time, also count.
        #expect((6...8).contains(partitions), "\(partitions) at \(now)")
    }
}

extension ClockedDatabase {
    /// Noon of the migration's day; its partitions range from the day before to three days ahead.
    fileprivate func noon() async throws -> Timestamp {
        let microseconds = try await database.count(
            """
            SELECT (extract(epoch FROM to_date(right(max(c.relname::text), 8), 'YYYYMMDD') - 3) + 43200)::bigint * 1000000
            FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
            WHERE i.inhparent = 'courier.verification'::regclass AND c.relname ~ '[0-9]{8}$'
            """
        )
        try await database.script(
            """
            ALTER FUNCTION courier.is_due(timestamptz) SET search_path = fake, pg_catalog, pg_temp;
            ALTER FUNCTION courier.oldest_kept(interval) SET search_path = fake, pg_catalog, pg_temp;
            ALTER FUNCTION courier.maintenance_age() SET search_path = fake, pg_catalog, pg_temp;
            ALTER FUNCTION courier.take_partitions() SET search_path = fake, pg_catalog, pg_temp;
            ALTER FUNCTION courier.maintain_days(text, interval, integer) SET search_path = fake, pg_catalog, pg_temp;
            ALTER FUNCTION courier.forget_slices(interval, integer) SET search_path = fake, pg_catalog, pg_temp;
            """
        )
        return Timestamp(microseconds: microseconds)
    }

    /// Makes every deletion from a partitioned table fail, since days must be dropped as partitions.
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
    /// Counts the rows of a table; a request from the first minute of a day has rows on two days and counts once.
    fileprivate func rows(of table: String) async throws -> Int64 {
        let counted = table == "request" ? "DISTINCT key" : "*"
        return try await count(
            """
            SELECT (xpath('//c/text()', query_to_xml('SELECT count(' || $1 || ') AS c FROM courier.' || $2,
                false, true, '')))[1]::text::bigint
            """,
            [.text(counted), .text(table)]
        )
    }

    /// The name of the oldest partition of `verification`.
    fileprivate func oldestDay() async throws -> String {
        try await text(
            """
            SELECT min(c.relname::text) FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
            WHERE i.inhparent = 'courier.verification'::regclass
            """
        ) ?? ""
    }

    /// The tables with personal data that still have rows.
    fileprivate func leftBehind() async throws -> [String] {
        var left: [String] = []
        for table in ["verification", "send", "request", "person", "limit_window", "receipt", "outbox"]
        where try await rows(of: table) > 0 {
            left.append(table)
        }
        return left
    }
}
