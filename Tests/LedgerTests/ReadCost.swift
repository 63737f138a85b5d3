// SPDX-License-Identifier: Apache-2.0

import PostgresClient
import TestSupport

/// The reads of a piece of work in the growing tables, from the server's own counters.
///
/// A plan that reads a whole table shows here whatever its shape: as rows of a sequential scan, or as entries of an
/// index. Partitions count for their table. The counters are those of the real statements with their real parameters.
struct ReadCost: Equatable, CustomStringConvertible {
    /// Rows read by sequential scans and index entries read, each by table.
    private(set) var rows: [String: Int64] = [:]
    private(set) var entries: [String: Int64] = [:]

    private static let tables = [
        "limit_window", "outbox", "person", "request", "send", "tenant_admission", "verification",
    ]

    var largest: Int64 { (Array(rows.values) + entries.values).max() ?? 0 }

    var description: String {
        Self.tables.map { "\($0): \(rows[$0, default: 0]) rows, \(entries[$0, default: 0]) entries" }
            .joined(separator: "; ")
    }

    /// Measures work on `pool`, which must have one connection and be the database's only user.
    static func measure(_ pool: PostgresPool, _ work: () async throws -> Void) async throws -> ReadCost {
        let before = try await current(pool)
        try await work()
        let after = try await current(pool)
        var cost = ReadCost()
        for table in tables {
            cost.rows[table] = after.rows[table, default: 0] - before.rows[table, default: 0]
            cost.entries[table] = after.entries[table, default: 0] - before.entries[table, default: 0]
        }
        return cost
    }

    private static func current(_ pool: PostgresPool) async throws -> ReadCost {
        try await pool.withSession { session in
            // Without this call the server publishes a session's counters only when its next transaction ends.
            try session.script("SELECT pg_stat_force_next_flush()")
            var cost = ReadCost()
            for row in try session.execute(counters) {
                cost.rows[try row.text(0)] = try row.int64(1)
                cost.entries[try row.text(0)] = try row.int64(2)
            }
            return cost
        }
    }

    private static let counters = Statement(
        """
        SELECT coalesce(parent.relname, part.relname)::text,
            sum(pg_stat_get_tuples_returned(part.oid))::bigint,
            sum((
                SELECT coalesce(sum(pg_stat_get_tuples_returned(i.indexrelid)), 0)
                FROM pg_index i WHERE i.indrelid = part.oid
            ))::bigint
        FROM pg_class part
        LEFT JOIN pg_inherits h ON h.inhrelid = part.oid
        LEFT JOIN pg_class parent ON parent.oid = h.inhparent
        WHERE part.relnamespace = 'courier'::regnamespace AND part.relkind = 'r'
        GROUP BY 1
        """
    )
}

extension LedgerDatabase {
    /// Leases all sends in parcels of about thirty.
    static let lease = """
        INSERT INTO courier.parcel
        SELECT gen_random_uuid(), clock_timestamp() + interval '1 hour', array_agg(id), array_agg(fence)
        FROM courier.send GROUP BY substr(request_id, 5)::int % 533;
        """

    /// Fills every growing table with 16,000 rows of yesterday and today, without updating the planner's statistics.
    ///
    /// Even one day's half of the rows is more than any method may read. All verifications are live and all sends are
    /// claimed, so that the sweeps' indexes are full, but nothing is due yet.
    func fill() async throws {
        try await script(
            """
            DO $$
            DECLARE
                part regclass;
            BEGIN
                FOR part IN
                    SELECT oid FROM pg_class WHERE relnamespace = 'courier'::regnamespace AND relkind = 'r'
                LOOP
                    EXECUTE format('ALTER TABLE %s SET (autovacuum_enabled = off)', part);
                END LOOP;
            END
            $$;
            CREATE TEMP TABLE old AS
            SELECT n, sha256(n::text::bytea) AS fingerprint, moment, (
                left(courier.uuid_floor(moment)::text, 13) || '-7' || substr(md5(n::text), 1, 3) || '-8'
                    || substr(md5(n::text), 4, 3) || '-' || substr(md5(n::text), 7, 12)
            )::uuid AS id
            FROM generate_series(1, 16000) n
            CROSS JOIN LATERAL (SELECT clock_timestamp() - (n % 2) * interval '24 hours') AS m(moment);
            INSERT INTO courier.request (
                day, key, digest, verification_id, record_topic, record_partition, record_offset
            )
            SELECT (moment AT TIME ZONE 'UTC')::date, courier.request_key('default', 'old-' || n), id, id, 0, 0, n
            FROM old;
            INSERT INTO courier.person (key, slots, entries, kept_until)
            SELECT courier.limit_key('recipient', 'default', fingerprint), '\\x02' || uuid_send(id), '',
                clock_timestamp() + interval '1 hour'
            FROM old;
            INSERT INTO courier.limit_window (key, entries, expires_at)
            SELECT courier.limit_key('ip', 'default', fingerprint), '', clock_timestamp() + interval '1 hour' FROM old;
            INSERT INTO courier.verification (
                id, request_id, tenant, purpose, channel, fingerprint, region, masked, sealed, seal_key, code_key,
                hash_key, generation, code_hash, code_length, state, max_checks, sends_used, max_sends, send_open,
                sequence, resend_after, expires_at, due_at, policy_version
            )
            SELECT id, 'old-' || n, 'default', 'sign_in', 'sms', fingerprint, 'DE', '+4******1', '\\x00', 1, 1, 1, 1,
                fingerprint, 6, 'live', 5, 1, 5, false, 0, clock_timestamp(),
                clock_timestamp() + interval '1 hour' + n * interval '1 s',
                clock_timestamp() + interval '1 hour' + n * interval '1 s', 'old'
            FROM old;
            INSERT INTO courier.send (
                id, verification_id, number, generation, request_id, state, deadline, resend_window_ms, rendering
            )
            SELECT id, id, 1, 1, 'old-' || n, 'claimed', clock_timestamp() + interval '2 hours', 60000, '{}'
            FROM old;
            \(Self.lease)
            INSERT INTO courier.outbox
            SELECT id, 2, false, '', '', '', clock_timestamp() + interval '1 hour' FROM old;
            DROP TABLE old;
            -- Batches of the last ten minutes: the tenant's limit looks back to some, and the oldest may be forgotten.
            -- Each row is counted on from the newest before it, which old statistics would have looked for in all of them.
            SET enable_seqscan = off;
            INSERT INTO courier.tenant_admission (tenant, admitted_at, count)
            SELECT 'default', clock_timestamp() - n * interval '37.5 milliseconds', 1
            FROM generate_series(16000, 1, -1) n;
            RESET enable_seqscan;
            """
        )
    }
}
