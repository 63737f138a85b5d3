// SPDX-License-Identifier: Apache-2.0

import Formats
import PostgresClient
import Synchronization
package import Verification

extension PostgresLedger: BacklogGauge {
    package func backlog() async throws -> Backlog {
        let statements = [countBacklog(), Self.oldestSnapshot]
        let answers = try await pool.withSession { try $0.pipeline(statements) }
        let counts = try answers[0].onlyRow
        var snapshot: (xmin: Int64, age: Int64)?
        for row in answers[1] { snapshot = (try row.int64(0), try row.int64(1)) }
        return Backlog(
            dueSends: Int(try counts.int64(0)),
            outbox: Int(try counts.int64(1)),
            snapshotAge: snapshots.age(of: snapshot)
        )
    }

    /// Counts due rows in index order, each kind up to the limit, from the time where its sweeps start.
    func countBacklog() -> Statement {
        Statement(
            """
            SELECT
                (SELECT count(*) FROM (
                    SELECT FROM courier.send s
                    WHERE s.id = ANY (ARRAY(
                        SELECT unnest(p.sends) FROM courier.parcel p
                        WHERE p.lease_until < statement_timestamp()
                          AND p.lease_until >= coalesce($2::timestamptz, '-infinity')
                        LIMIT $1
                    )) AND s.state IN ('pending', 'claimed', 'dispatching')
                ) AS due),
                (SELECT count(*) FROM (
                    SELECT FROM courier.outbox o WHERE o.lease_until >= coalesce($3::timestamptz, '-infinity') LIMIT $1
                ) AS waiting)
                + (SELECT coalesce(sum(p.size), 0) FROM (
                    SELECT o.size FROM courier.outbox_pack o
                    WHERE o.lease_until >= coalesce($3::timestamptz, '-infinity') LIMIT $1
                ) AS p)
            """,
            [
                .int32(Backlog.limit), .timestamp(microsecondsSinceUnixEpoch: dueSends.floor?.microseconds),
                .timestamp(microsecondsSinceUnixEpoch: unpublished.floor?.microseconds),
            ]
        )
    }

    /// Reads the oldest snapshot that keeps dead rows from being vacuumed, and the number of transactions begun since.
    ///
    /// Every login can read the `backend_xmin` of all sessions, but not since when they hold it. Autovacuum workers
    /// hold nothing back; the condition on `usesysid` excludes them, since they have no user.
    static let oldestSnapshot = Statement(
        """
        SELECT o.xmin::text::int8, age(o.xmin)::int8
        FROM (
            SELECT a.backend_xmin AS xmin FROM pg_stat_activity a
            WHERE a.pid <> pg_backend_pid() AND a.usesysid IS NOT NULL
              AND (a.datname = current_database() OR a.datname IS NULL)
            UNION ALL
            SELECT s.xmin FROM pg_replication_slots s
            UNION ALL
            SELECT p.transaction FROM pg_prepared_xacts p WHERE p.database = current_database()
        ) AS o
        WHERE o.xmin IS NOT NULL
        ORDER BY age(o.xmin) DESC
        LIMIT 1
        """
    )
}

/// Measures the age of a database's oldest snapshot from repeated readings.
///
/// An ordinary login cannot read the snapshot's start time.
final class SnapshotWatch: Sendable {
    private let seen = Mutex<(xmin: Int64, since: ContinuousClock.Instant)?>(nil)

    /// Records the oldest snapshot and the number of transactions begun since; returns its age, zero for a young one.
    func age(of snapshot: (xmin: Int64, age: Int64)?, now: ContinuousClock.Instant = .now) -> Duration {
        seen.withLock { seen in
            guard let snapshot, snapshot.age > 0 else {
                seen = nil
                return .zero
            }
            if let last = seen, last.xmin == snapshot.xmin { return now - last.since }
            seen = (snapshot.xmin, now)
            return .zero
        }
    }
}
