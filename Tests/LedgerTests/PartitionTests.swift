// SPDX-License-Identifier: Apache-2.0

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
                FROM unnest(ARRAY['request', 'send', 'verification']) parent
                CROSS JOIN (
                    SELECT '_other' UNION ALL
                    SELECT to_char((now() AT TIME ZONE 'UTC')::date + ahead, '_YYYYMMDD') FROM generate_series(-1, 3) ahead
                ) AS wanted(suffix)
                ORDER BY 1
                """
            )
            #expect(expected.count == 18)
            #expect(try await database.partitions() == expected)
        }
    }

    @Test func `maintenance creates what is ahead, and a second run finds nothing to do`() async throws {
        try await LedgerDatabase.with { database in
            let before = try await database.partitions()
            #expect(try await database.count("SELECT courier.maintain_partitions('24 hours', 5)::bigint") == 6)
            #expect(try await database.partitions().count == before.count + 6)
            #expect(try await database.count("SELECT courier.maintain_partitions('24 hours', 5)::bigint") == 0)
        }
    }

    @Test func `maintenance drops a day past retention with its rows, and keeps a day within it`() async throws {
        try await LedgerDatabase.with { database in
            let worker = LedgerWorker(database.ledger())
            let claims = try await worker.claims(3)
            for days in [2, 3, 4] {
                try await database.createPartitions(daysAgo: days)
                try await database.age(claims[days - 2].reference.verificationID, days: days)
            }
            // With 47 hours, and one more for what ends after midnight, two whole days are kept at any time of today.
            try await database.script("SELECT courier.maintain_partitions('47 hours')")

            #expect(try await database.count("SELECT count(*) FROM courier.verification") == 1)
            #expect(try await database.count("SELECT count(*) FROM courier.send") == 3)
            let kept = try await database.partitions().compactMap(\.self).filter { $0.hasPrefix("verification") }
            #expect(kept.count == 7)
            // With 23 hours, the day before yesterday is over at any time of today.
            try await database.script("SELECT courier.maintain_partitions('23 hours')")
            #expect(try await database.count("SELECT count(*) FROM courier.verification") == 0)
            #expect(try await database.partitions().count == 18)
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
                settings: .init(source: "/test", retention: .seconds(hours * 3600))
            )
            try await ledger.maintain()
            #expect(try await database.count("SELECT count(*) FROM courier.verification") == kept)
        }
    }

    @Test func `slots of dropped verifications go, and their people begin anew`() async throws {
        try await LedgerDatabase.with { database in
            let worker = LedgerWorker(database.ledger())
            let claims = try await worker.claims(2)
            try await database.age(try #require(claims.first).reference.verificationID, days: 4)
            try await worker.ledger.maintain()

            let left = try await database.texts("SELECT verification_id::text FROM courier.slot")
            #expect(left == [try #require(claims.last).reference.verificationID.description])
            #expect(try await worker.intake(.people(1, round: 1, at: try await worker.now())).value.count == 1)
        }
    }

    @Test func `the ids of a worker with a wrong clock find a place`() async throws {
        try await LedgerDatabase.with { database in
            let worker = LedgerWorker(database.ledger())
            let now = try await worker.now()
            let screener = Screener(policy: .unlimited, keys: .test, numbers: FixedNumbers())
            for (index, clock) in [now + .seconds(10 * 86_400), now + .seconds(40 * 86_400)].enumerated() {
                let records: [InboundRecord] = .people(1, from: index, at: now)
                let candidates = records.map { screener.candidate(for: $0, now: clock) }
                #expect(try await worker.intake(candidates: candidates).value.count == 1)
            }
            #expect(try await database.count("SELECT count(*) FROM courier.verification_other") == 2)
            #expect(try await database.count("SELECT count(*) FROM courier.send_other") == 2)
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

extension LedgerDatabase {
    fileprivate func partitions() async throws -> [String?] {
        try await texts(
            """
            SELECT c.relname::text FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
            WHERE c.relnamespace = 'courier'::regnamespace AND c.relkind = 'r'
            ORDER BY 1
            """
        )
    }

    /// Partitions of a day that is over, as maintenance made them then.
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

    /// Lets a verification, and the slot that points to it, be of noon so many days ago.
    fileprivate func age(_ verification: VerificationID, days: Int) async throws {
        try await script(
            """
            WITH old AS (
                SELECT courier.uuid_floor((now() AT TIME ZONE 'UTC')::date - interval '\(days) days' + interval '12 hours')
                    AS id
            ), slot AS (
                UPDATE courier.slot SET verification_id = old.id FROM old WHERE verification_id = '\(verification)'
            )
            UPDATE courier.verification v SET id = old.id FROM old WHERE v.id = '\(verification)'
            """
        )
    }
}
