// SPDX-License-Identifier: Apache-2.0

import PostgresClient
import Synchronization
import TestTools

extension LedgerDatabase {
    /// Plays another worker: runs a script in a session of its own until it is over, or until the test ends.
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
            // The thread of the script is in libpq: the server ends its session.
            Task {
                let connection = PostgresConnection(PostgresConfiguration(url: url, applicationName: "tests"))
                try await connection.run { session in try session.script("SELECT pg_terminate_backend(\(other))") }
                await connection.close()
            }
        }
    }

    /// Waits until scripts that play other workers hold what they are to hold: each tells by taking advisory lock 1 then.
    package func waitForHolders(_ count: Int64 = 1) async throws {
        try await eventually("other workers hold their rows") { try await holders >= count }
    }

    /// The number of such scripts that hold it now.
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

    /// For such a script: waits until a query finds a row, a minute at most, so that a test that fails comes to its end.
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

    /// For such a script: waits until somebody waits for it.
    package static let untilSomebodyWaits = waiting(
        for: "SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'"
    )
}
