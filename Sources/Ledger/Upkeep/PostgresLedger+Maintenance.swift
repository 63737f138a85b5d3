// SPDX-License-Identifier: Apache-2.0

import Formats
import PostgresClient
import Verification

extension PostgresLedger {
    @discardableResult
    package func maintain() async throws -> Duration {
        try await pool.withSession { session in
            let takesPartitions = try session.execute(Statement("SELECT courier.take_partitions()")).onlyRow.bool(0)
            // One transaction for each table, so that a long read of one table delays no other.
            var failure: (any Error)?
            for table in takesPartitions ? ["request", "verification", "send", "message"] : [] {
                do {
                    try session.execute(
                        Statement(
                            "SELECT courier.maintain_days($1, $2 * interval '1 microsecond')",
                            [.text(table), .int64(settings.retention.microseconds)]
                        )
                    )
                } catch {
                    failure = error
                }
            }
            try session.execute(
                Statement(
                    "SELECT courier.forget_slices($1 * interval '1 microsecond')",
                    [.int64(settings.retention.microseconds)]
                )
            )
            if let failure { throw failure }
            let age = try session.execute(
                Statement("SELECT (extract(epoch FROM courier.maintenance_age()) * 1000000)::bigint")
            )
            return .microseconds(try age.onlyRow.int64(0))
        }
    }
}

extension PostgresLedger {
    package func endStalledSessions() async throws -> Int { try await endStalledSessions(after: .seconds(11)) }

    func endStalledSessions(after time: Duration) async throws -> Int {
        try await pool.withSession { session in
            Int(clamping: try session.execute(Self.endStalled(after: time)).onlyRow.int64(0))
        }
    }

    /// Terminates this login's sessions that stall in the middle of a transaction, waiting for their client.
    ///
    /// The statements of a transaction and its COMMIT are sent in one burst. If a worker freezes or loses its network
    /// in the middle of it, the server waits for the rest as if a statement ran: none of its timeouts covers that, and
    /// keepalives do not detect a frozen process. Meanwhile up to a whole batch of persons is locked.
    ///
    /// Each message of a burst runs for at most the 10 s of `statement_timeout`, and a live worker sends the next one
    /// at once. COPY waits for its data by design. A session that reads its rows slowly under another application name
    /// is left alone.
    private static func endStalled(after time: Duration) -> Statement {
        Statement(
            """
            SELECT count(*) FILTER (WHERE pg_terminate_backend(a.pid))
            FROM pg_stat_activity a
            WHERE a.usename = session_user AND a.datname = current_database() AND a.pid <> pg_backend_pid()
              AND a.backend_type = 'client backend' AND a.state = 'active' AND a.wait_event_type = 'Client'
              AND (
                  a.wait_event = 'ClientRead'
                  OR a.wait_event = 'ClientWrite' AND a.application_name = current_setting('application_name')
              )
              AND a.xact_start IS NOT NULL AND a.state_change < clock_timestamp() - $1 * interval '1 microsecond'
              AND a.query NOT ILIKE 'copy%'
            """,
            [.int64(time.microseconds)]
        )
    }
}
