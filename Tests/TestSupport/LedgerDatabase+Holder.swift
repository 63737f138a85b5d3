// SPDX-License-Identifier: Apache-2.0

extension LedgerDatabase {
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
