// SPDX-License-Identifier: Apache-2.0

import Formats
import Ledger
import PostgresClient
import TestSupport
import Testing
import Verification

@Suite struct PartitionTests {
    @Test func `each growing table has a partition from yesterday to three days ahead, and one for strays`()
        async throws
    {
        try await LedgerDatabase.with { database in
            let expected = try await database.texts(
                """
                SELECT parent || suffix
                FROM unnest(ARRAY['request', 'send', 'verification', 'message']) parent
                CROSS JOIN (
                    SELECT '_other' UNION ALL
                    SELECT to_char((now() AT TIME ZONE 'UTC')::date + ahead, '_YYYYMMDD') FROM generate_series(-1, 3) ahead
                ) AS wanted(suffix)
                ORDER BY 1
                """
            )
            #expect(expected.count == 24)
            #expect(try await database.partitions() == expected)
        }
    }

    @Test func `maintenance creates what is ahead, and a second run finds nothing to do`() async throws {
        try await LedgerDatabase.with { database in
            let before = try await database.partitions()
            #expect(try await database.maintainDays(ahead: 5) == 8)
            #expect(try await database.partitions().count == before.count + 8)
            #expect(try await database.maintainDays(ahead: 5) == 0)
        }
    }

    @Test func `of no table and no new day more is sampled than plans need`() async throws {
        try await LedgerDatabase.with { database in
            // Maintenance also recreates the tables for rows outside all days (`*_other`).
            try await database.script(
                "DROP TABLE courier.request_other, courier.verification_other, courier.send_other, courier.message_other"
            )
            #expect(try await database.maintainDays(ahead: 5) == 8)
            let others = try await database.texts(
                """
                SELECT format('%s.%s: %s', c.relname, a.attname, a.attstattarget)
                FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
                WHERE c.relnamespace = 'courier'::regnamespace AND c.relkind IN ('r', 'p')
                  AND a.attstattarget IS DISTINCT FROM 10
                """
            )
            #expect(others == [])
        }
    }

    @Test func `maintenance drops a day past retention with its rows, and keeps a day within it`() async throws {
        try await LedgerDatabase.with { database in
            let worker = LedgerWorker(database.ledger())
            let claims = try await worker.claims(3)
            for days in [3, 4, 5] {
                try await database.createPartitions(daysAgo: days)
                try await database.age(claims[days - 3].reference.verificationID, days: days)
            }
            // Retention of 71 hours plus one hour past midnight keeps three whole days at any time of day.
            #expect(try await database.maintainDays(retention: 71) == 6)

            #expect(try await database.count("SELECT count(*) FROM courier.verification") == 1)
            #expect(try await database.count("SELECT count(*) FROM courier.send") == 3)
            let kept = try await database.partitions().compactMap(\.self).filter { $0.hasPrefix("verification") }
            #expect(kept.count == 7)
            // With 24 hours, the oldest of these days is past retention at any time of day.
            #expect(try await database.maintainDays() == 3)
            #expect(try await database.count("SELECT count(*) FROM courier.verification") == 0)
            #expect(try await database.partitions().count == 24)
        }
    }

    @Test func `no argument lets maintenance drop what is in use, or make days without end`() async throws {
        try await LedgerDatabase.with { database in
            _ = try await LedgerWorker(database.ledger()).claim()
            let before = try await database.partitions()
            let retentions = ["NULL", "'-10 days'", "'0'", "'23 hours 59 minutes'"]
            let aheads = ["NULL", "-1", "32", "1000000"].map { "'24 hours', \($0)" }
            let days = (retentions + aheads).map { "maintain_days('request', \($0))" }
            let slices = (retentions + ["'24 hours', NULL", "'24 hours', 0"]).map { "forget_slices(\($0))" }
            try await database.withLogin(granted: "courier_worker") { pool in
                for call in days + slices {
                    let refusal = await #expect(throws: PostgresError.self, "\(call)") {
                        try await pool.withSession { try $0.script("SELECT courier.\(call)") }
                    }
                    #expect(refusal?.sqlState == SQLState(rawValue: "22023"), "\(call)")
                }
            }
            #expect(try await database.partitions() == before)
            #expect(try await database.count("SELECT count(*) FROM courier.person") == 1)
        }
    }

    @Test(arguments: [(hours: 24, kept: 0), (hours: 24 * 5, kept: 1)])
    func `maintenance keeps as long as the setting says`(hours: Int, kept: Int64) async throws {
        try await LedgerDatabase.with { database in
            let worker = LedgerWorker(database.ledger())
            let claims = try await worker.claims(1)
            try await database.createPartitions(daysAgo: 4)
            try await database.age(try #require(claims.first).reference.verificationID, days: 4)
            let ledger = PostgresLedger(
                pool: database.pool,
                keys: KeySource(.test),
                settings: .test { $0.retention = .seconds(hours * 3600) }
            )
            try await ledger.maintain()
            #expect(try await database.count("SELECT count(*) FROM courier.verification") == kept)
        }
    }

    @Test func `a person goes when nothing of it is needed, and begins anew`() async throws {
        try await LedgerDatabase.with { database in
            let worker = LedgerWorker(database.ledger())
            let old = try await worker.claim()
            try await database.script("UPDATE courier.person SET kept_until = clock_timestamp()")
            let young = try await worker.claim(1)
            try await database.age(old.reference.verificationID, days: 4)
            try await worker.ledger.maintain()

            let left = try await database.texts("SELECT encode(substring(slots FROM 2), 'hex') FROM courier.person")
            #expect(left == [hexadecimal(young.reference.verificationID.uuid.bytes)])
            #expect(try await worker.intake(.people(1, round: 1, at: try await worker.now())).value.count == 1)
        }
    }

    @Test func `the ids of a worker with a wrong clock find a place`() async throws {
        try await LedgerDatabase.with { database in
            let worker = LedgerWorker(database.ledger())
            try await worker.takeStray(0, after: .seconds(10 * 86_400))
            try await worker.takeStray(1, after: .seconds(40 * 86_400))
            #expect(try await database.count("SELECT count(*) FROM courier.verification_other") == 2)
            #expect(try await database.count("SELECT count(*) FROM courier.send_other") == 2)
        }
    }

    @Test func `a day that has strays already is left to them, and the others are made`() async throws {
        try await LedgerDatabase.with { database in
            let worker = LedgerWorker(database.ledger())
            try await worker.takeStray(after: .seconds(10 * 86_400))
            let before = try await database.partitions().count
            // Nine days of four tables, except the day of the verification and its send.
            #expect(try await database.maintainDays(ahead: 12) == 34)
            #expect(try await database.partitions().count == before + 34)
            #expect(try await database.count("SELECT count(*) FROM courier.verification_other") == 1)
        }
    }

    @Test func `strays past retention are forgotten once their work is over, and after a week in any case`()
        async throws
    {
        try await LedgerDatabase.with { database in
            let worker = LedgerWorker(database.ledger())
            for (index, days) in [3, 4, 20].enumerated() {
                try await worker.takeStray(index, after: .seconds(-days * 86_400))
            }
            let rows = "SELECT count(*) FROM courier.verification_other" as StaticString
            #expect(try await database.count(rows) == 3)
            // Two of the verifications still have open work, and one of those two is older than the maximum of a week.
            try await database.script(
                """
                UPDATE courier.verification SET ended_at = clock_timestamp()
                WHERE id = (SELECT id FROM courier.verification_other ORDER BY id DESC LIMIT 1);
                UPDATE courier.send SET state = 'sent'
                WHERE id = (SELECT id FROM courier.send_other ORDER BY id DESC LIMIT 1);
                """
            )
            try await worker.ledger.maintain()
            #expect(try await database.count(rows) == 1)
            #expect(try await database.count("SELECT count(*) FROM courier.send_other") == 1)
        }
    }

    @Test(arguments: [
        "UPDATE courier.verification SET ended_at = NULL",
        "INSERT INTO courier.parcel SELECT id, now(), ARRAY[id], ARRAY[fence] FROM courier.send",
    ])
    func `a day whose work is not over is kept until it is, and for a week at most`(isOpen: String) async throws {
        try await LedgerDatabase.with { database in
            let worker = LedgerWorker(database.ledger())
            for days in [4, 12] {
                try await database.createPartitions(daysAgo: days)
                let claim = try await worker.claim(days)
                try await database.age(claim.reference.verificationID, days: days)
                try await database.script(
                    """
                    UPDATE courier.send s SET id = v.id FROM courier.verification v
                    WHERE s.id = '\(claim.id)' AND v.request_id = '\(claim.reference.requestID)'
                    """
                )
            }
            try await database.script(
                "DELETE FROM courier.parcel; UPDATE courier.verification SET ended_at = clock_timestamp()"
            )
            try await database.script(isOpen)
            _ = try await database.maintainDays()
            #expect(try await database.rowsOfBoth() == 1)
            try await database.script(
                "DELETE FROM courier.parcel; UPDATE courier.verification SET ended_at = clock_timestamp()"
            )
            _ = try await database.maintainDays()
            #expect(try await database.rowsOfBoth() == 0)
        }
    }

    @Test func `old persons and windows are forgotten in slices, which workers share and which end`() async throws {
        try await LedgerDatabase.with { database in
            try await database.script(
                """
                INSERT INTO courier.person (key, slots, entries, kept_until)
                SELECT gen_random_uuid(), '', '', clock_timestamp() + interval '1 hour' - n % 2 * interval '2 hours'
                FROM generate_series(1, 10000) AS n;
                INSERT INTO courier.limit_window (key, entries, expires_at)
                SELECT gen_random_uuid(), '', clock_timestamp() + interval '1 hour' - n % 2 * interval '2 hours'
                FROM generate_series(1, 10000) AS n;
                """
            )
            var forgotten: [Int64] = []
            repeat {
                forgotten.append(try await database.count("SELECT courier.forget_slices('24 hours', 20)"))
            } while forgotten.last != 0 && forgotten.count < 100
            #expect(forgotten.count > 3 && forgotten.reduce(0, +) == 10_000)
            // One round deletes the rows of at most twenty pages of each table.
            #expect(forgotten.allSatisfy { $0 < 5_000 })
            #expect(try await database.count("SELECT count(*) FROM courier.person") == 5_000)
            #expect(try await database.count("SELECT count(*) FROM courier.limit_window") == 5_000)

            try await database.script("UPDATE courier.limit_window SET expires_at = clock_timestamp()")
            #expect(try await database.count("SELECT courier.forget_slices()") == 0)
            try await database.script("UPDATE courier.maintenance SET due_at = due_at - interval '1 hour'")
            #expect(try await database.count("SELECT courier.forget_slices()") == 5_000)
        }
    }

    @Test func `one worker of all maintains the partitions in an hour, also when a clock had been ahead`() async throws
    {
        try await LedgerDatabase.with { database in
            let take = "SELECT courier.take_partitions()::int::bigint" as StaticString
            let taken = try await inParallel(6) { _ in try await database.count(take) }
            #expect(taken.reduce(0, +) == 1)
            for (moment, expected) in [("30 minutes", 0), ("-1 second", 1), ("3 hours", 1)] as [(String, Int64)] {
                try await database.script(
                    "UPDATE courier.maintenance SET due_at = clock_timestamp() + interval '\(moment)'"
                )
                #expect(try await database.count(take) == expected, "due in \(moment)")
            }
        }
    }

    @Test func `the smallest id of a moment is where the worker's ids of that moment begin`() async throws {
        try await LedgerDatabase.with { database in
            var generator = SystemRandomNumberGenerator()
            let moments: [Int64] = [0, 1_000, 1_763_683_199_999_000, 1_763_683_200_000_000, 1_763_683_200_001_000]
            for moment in moments {
                let text = try await database.text(
                    "SELECT courier.uuid_floor($1)::text",
                    [.timestamp(microsecondsSinceUnixEpoch: moment)]
                )
                let floor = try #require(text.flatMap { UUIDValue($0) })
                let before = Timestamp(microseconds: moment - 1_000)
                for _ in 0..<100 {
                    #expect(UUIDValue.version7(at: Timestamp(microseconds: moment), using: &generator) >= floor)
                    if moment > 0 { #expect(UUIDValue.version7(at: before, using: &generator) < floor) }
                }
                #expect(floor.value >> 80 == UInt128(moment / 1_000))
                #expect(floor.value << 48 == 0)
            }
        }
    }
}

extension LedgerWorker {
    /// Decides a request by a worker whose clock is wrong by `error`.
    fileprivate func takeStray(_ person: Int = 0, after error: Duration) async throws {
        let screener = Screener(policy: policy, keys: keys, numbers: FixedNumbers())
        let now = try await now()
        let records: [InboundRecord] = .people(1, from: person, at: now)
        let candidates = records.map { screener.candidate(for: $0, now: now + error) }
        _ = try await intake(candidates: candidates)
    }
}

extension LedgerDatabase {
    /// Number of verifications and sends left, where the test leaves one kind unfinished.
    fileprivate func rowsOfBoth() async throws -> Int64 {
        try await count("SELECT (SELECT count(*) FROM courier.verification) + (SELECT count(*) FROM courier.send)")
    }

    /// Maintains the partitions of all four tables, and returns the number of partitions created and dropped.
    fileprivate func maintainDays(retention hours: Int32 = 24, ahead: Int32 = 3) async throws -> Int64 {
        try await count(
            """
            SELECT sum(courier.maintain_days(t.parent, $1 * interval '1 hour', $2))
            FROM unnest(ARRAY['request', 'verification', 'send', 'message']) AS t(parent)
            """,
            [.int32(hours), .int32(ahead)]
        )
    }

    fileprivate func partitions() async throws -> [String?] {
        try await texts(
            """
            SELECT c.relname::text FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
            WHERE c.relnamespace = 'courier'::regnamespace AND c.relkind = 'r'
            ORDER BY 1
            """
        )
    }

    /// Creates the partitions of a past day, as maintenance did on that day.
    fileprivate func createPartitions(daysAgo days: Int) async throws {
        try await script(
            """
            DO $$
            DECLARE
                day date := (now() AT TIME ZONE 'UTC')::date - \(days);
                parent text;
            BEGIN
                FOREACH parent IN ARRAY ARRAY['verification', 'send'] LOOP
                    EXECUTE format('CREATE TABLE courier.%I PARTITION OF courier.%I FOR VALUES FROM (%L) TO (%L)',
                        parent || to_char(day, '_YYYYMMDD'), parent,
                        courier.uuid_floor(day::timestamp AT TIME ZONE 'UTC'),
                        courier.uuid_floor((day + 1)::timestamp AT TIME ZONE 'UTC'));
                END LOOP;
                EXECUTE format('CREATE TABLE courier.%I PARTITION OF courier.request FOR VALUES FROM (%L) TO (%L)',
                    'request' || to_char(day, '_YYYYMMDD'), day, day + 1);
            END
            $$
            """
        )
    }

    /// Moves a verification to noon of a day `days` ago, and ends it.
    fileprivate func age(_ verification: VerificationID, days: Int) async throws {
        try await script(
            """
            WITH old AS (
                SELECT courier.uuid_floor((now() AT TIME ZONE 'UTC')::date - interval '\(days) days' + interval '12 hours')
                    AS id
            )
            UPDATE courier.verification v SET id = old.id, ended_at = clock_timestamp()
            FROM old WHERE v.id = '\(verification)'
            """
        )
    }
}
