// SPDX-License-Identifier: Apache-2.0

import PostgresClient
import Synchronization
import TestTools

extension LedgerDatabase {
    /// Runs a script in its own session, as another worker would, until it or the test ends.
    package func play(_ script: String) async throws {
        let process = Mutex<Int32?>(nil)
        try await withTaskCancellationHandler {
            try await pool.withSession { session in
                process.withLock { $0 = session.announcedProcess }
                guard !Task.isCancelled else { throw CancellationError() }
                try session.script(script)
            }
        } onCancel: {
            guard let other = process.withLock(\.self) else { return }
            // The script's thread blocks in libpq, so the server must terminate its session.
            Task {
                let connection = PostgresConnection(PostgresConfiguration(url: url, applicationName: "tests"))
                try await connection.run { session in try session.script("SELECT pg_terminate_backend(\(other))") }
                await connection.close()
            }
        }
    }

    /// Waits until `count` scripts have their locks; each script takes advisory lock 1 to signal that.
    package func waitForHolders(_ count: Int64 = 1) async throws {
        try await eventually("other workers hold their rows") { try await holders >= count }
    }

    /// Number of scripts that currently hold advisory lock 1.
    package var holders: Int64 {
        get async throws {
            try await count(
                """
                SELECT count(*) FROM pg_locks l JOIN pg_database d ON d.oid = l.database
                WHERE d.datname = current_database() AND l.locktype = 'advisory' AND l.objid = 1 AND l.granted
                """
            )
        }
    }

    /// SQL for such a script: waits until a query finds a row, for a minute at most, so that a failed test ends.
    package static func waiting(for query: String) -> String {
        """
        DO $$
        BEGIN
            FOR i IN 1..6000 LOOP
                EXIT WHEN EXISTS (\(query));
                PERFORM pg_sleep(0.01);
                PERFORM pg_stat_clear_snapshot();
            END LOOP;
        END
        $$;
        """
    }

    /// SQL for such a script: waits until another session waits for a lock.
    package static let untilSomebodyWaits = waiting(
        for: "SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'"
    )
}
