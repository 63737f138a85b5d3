// SPDX-License-Identifier: Apache-2.0

import PostgresClient
import TestSupport
import Testing
import Verification

@testable import Ledger

/// Checks that a statement reads only the days of its ids, since a long retention keeps many days.
@Suite struct DayReadTests {
    @Test func `a batch reads no day but those of its ids`() async throws {
        try await LedgerDatabase.with { database in
            try await database.script(Self.oldDays)
            try await database.withPool(connections: 1, settings: PostgresLedger.sessionSettings) { pool in
                let worker = LedgerWorker(database.ledger(on: pool))
                let ledger = worker.ledger
                let claims = try await worker.claims(5)
                _ = try await ledger.markDispatching(claims)
                try await database.lapseSends()
                try await worker.publish(try await ledger.sweepSends(capacity: 10))
                try await worker.publish(try await ledger.record(claims.map { .init($0, .sent) }))
                try await worker.publish(try await worker.intake(.people(5, round: 1, at: try await worker.now())))
                let messages = try await database.texts("SELECT DISTINCT provider_message_id FROM courier.send")
                let receipts =
                    claims.map { ReceivedReceipt(.of($0, .delivered)) } + messages.compactMap(\.self).map(Self.receipt)
                let told = try await ledger.receive(receipts, deadLetters: []).outbox
                #expect(told.count == 5)
                let read = try await Self.readsOfOldDays(pool)
                #expect(read == [])

                // The receipt's message is not in the most recent days, so the lookup must read the old days.
                _ = try await ledger.receive([Self.receipt("SM-of-long-ago")], deadLetters: [])
                let readBesides = try await Self.readsOfOldDays(pool)
                #expect(readBesides == ["message"])
            }
        }
    }

    private static func receipt(_ message: String) -> ReceivedReceipt {
        ReceivedReceipt(
            Receipt(provider: "main", sendID: nil, providerMessageID: message, status: .delivered, reason: nil)
        )
    }

    /// Creates partitions for the twenty days before yesterday.
    private static let oldDays = """
        DO $$
        DECLARE
            parent text;
            day timestamp;
        BEGIN
            FOREACH parent IN ARRAY ARRAY['verification', 'send', 'message'] LOOP
                FOR back IN 4..23 LOOP
                    day := (now() AT TIME ZONE 'UTC')::date - back;
                    EXECUTE format(
                        'CREATE TABLE courier.%I PARTITION OF courier.%I FOR VALUES FROM (%L) TO (%L)',
                        parent || '_old' || back, parent, courier.uuid_floor(day AT TIME ZONE 'UTC'),
                        courier.uuid_floor((day + interval '1 day') AT TIME ZONE 'UTC')
                    );
                END LOOP;
            END LOOP;
        END
        $$
        """

    /// The tables whose old partitions were read.
    private static func readsOfOldDays(_ pool: PostgresPool) async throws -> [String] {
        try await pool.withSession { session in
            // Without this call the server publishes a session's counters only when its next transaction ends.
            try session.script("SELECT pg_stat_force_next_flush()")
            return try session.execute(
                Statement(
                    """
                    SELECT split_part(c.relname, '_', 1) FROM pg_class c JOIN pg_index i ON i.indrelid = c.oid
                    WHERE c.relname ~ '_old[0-9]+$'
                    GROUP BY 1 HAVING sum(pg_stat_get_numscans(i.indexrelid)) > 0 ORDER BY 1
                    """
                )
            ).map { try $0.text(0) }
        }
    }
}
