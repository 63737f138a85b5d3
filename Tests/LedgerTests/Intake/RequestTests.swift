// SPDX-License-Identifier: Apache-2.0

import Formats
import PostgresClient
import TestSupport
import Testing
import Verification

/// Tests the rows of request ids.
@Suite(.timeLimit(.minutes(5))) struct RequestTests {
    @Test func `an operator's statement makes the same keys as a worker, in the same order`() async throws {
        let keys = [
            ("default", "r1"), ("default", "r10"), ("defaultr", "1"), ("", "requests/0/5/7"), ("default", "r\u{e9}"),
            ("default", "re\u{301}"), ("default", #"\x00'"#), ("a", String(repeating: "\u{1f511}", count: 128)),
        ].map { RequestKey(tenant: $0, requestID: $1) }
        #expect(Set(keys).count == keys.count)
        try await LedgerDatabase.with { database in
            let statement = Statement(
                """
                SELECT courier.request_key(u.tenant, u.id)
                FROM unnest($1::text[], $2::text[]) AS u(tenant, id) ORDER BY 1
                """,
                [.texts(keys.map(\.tenant)), .texts(keys.map(\.requestID))]
            )
            let made = try await database.pool.withSession { try $0.execute(statement).map { try $0.uuid(0) } }
            #expect(made == keys.sorted().map(\.digest.value))
        }
    }

    @Test func `the row of a request has no text of it, and says where the newest record stands`() async throws {
        try await LedgerDatabase.with { database in
            let worker = LedgerWorker(database.ledger())
            let now = try await worker.now()
            let records = [(Int32(0), Int64(7)), (1, 3), (0, 9)].map { partition, offset in
                InboundRecord.request(id: "secret-id", offset: offset, partition: partition, at: now)
            }
            let place: StaticString = """
                SELECT record_partition || '/' || record_offset || '/' || record_time FROM courier.request
                WHERE key = courier.request_key('default', 'secret-id')
                """
            for (record, repeats) in zip(records, [0, 1, 1]) {
                let recorded = try await worker.intake([record])
                #expect(recorded.outbox.count == repeats)
                try await worker.publish(recorded)
                let expected = "\(record.partition)/\(record.offset)/\(now.milliseconds)"
                #expect(try await database.texts(place) == [expected])
            }
            for record in records { #expect(try await worker.intake([record]).outbox.isEmpty, "\(record)") }
            let row = try #require(try await database.text("SELECT string_agg(r::text, ' ') FROM courier.request r"))
            #expect(!row.contains("secret") && !row.contains("default"))
        }
    }

    /// The concurrent ids belong to other people, so no worker waits for a person's row.
    @Test func `ids that two other workers write meanwhile are answered by what those decided`() async throws {
        try await LedgerDatabase.with(connections: 5) { database in
            let worker = LedgerWorker(database.ledger())
            let candidates = try await worker.candidates(.people(3, at: try await worker.now()))
            let ids = candidates.map(\.key).sorted().map(\.requestID)
            async let first: Void = database.play(Self.hold(ids[0]))
            async let second: Void = database.play(Self.hold(ids[1]))
            try await database.waitForHolders(2)
            let recorded = try await worker.intake(candidates: candidates)
            (_, _) = try await (first, second)
            #expect(recorded.value.map(\.reference.requestID) == [ids[2]])
            let reasons = recorded.outbox.map { $0.json?.text("reason") }
            #expect(reasons == ["request_id_conflict", "request_id_conflict"])
        }
    }

    /// Inserts the id for another person and commits when another session waits for this row.
    private static func hold(_ id: String) -> String {
        let isWaitedFor = """
            SELECT FROM pg_locks
            WHERE NOT granted AND locktype = 'transactionid' AND transactionid = pg_current_xact_id()::xid
            """
        return """
            BEGIN;
            INSERT INTO courier.request (day, key, digest, record_topic, record_partition, record_offset, status)
            SELECT (now() AT TIME ZONE 'UTC')::date, courier.request_key('default', '\(id)'), gen_random_uuid(), 0, 0, 0,
                'rejected';
            SELECT pg_advisory_xact_lock_shared(1);
            \(LedgerDatabase.waiting(for: isWaitedFor))
            COMMIT;
            """
    }
}
