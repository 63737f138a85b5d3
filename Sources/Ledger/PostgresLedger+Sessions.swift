// SPDX-License-Identifier: Apache-2.0

import PostgresClient
import Verification

extension PostgresLedger {
    package func endStalledSessions() async throws -> Int { try await endStalledSessions(after: .seconds(11)) }

    func endStalledSessions(after time: Duration) async throws -> Int {
        try await pool.withSession { session in
            Int(clamping: try session.execute(Self.endStalled(after: time)).onlyRow.int64(0))
        }
    }

    /// Ends the sessions of this login that stand still in the middle of a transaction and wait for their other side.
    ///
    /// The statements of a transaction and its COMMIT leave in one burst. Where a worker is frozen or its network is cut in
    /// the middle of it, the server waits for the rest as for a statement that runs: no time-out of its own counts that,
    /// and keepalives do not see a process that stands still. Meanwhile up to a whole batch of persons is locked.
    ///
    /// A message of a burst runs for at most the 10 s of `statement_timeout`, and those that live send the next one at once.
    /// COPY waits for its data by design. A reader that takes its rows slowly, under another name, is left alone.
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
