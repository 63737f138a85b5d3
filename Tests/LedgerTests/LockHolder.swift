// SPDX-License-Identifier: Apache-2.0

import TestSupport

extension LedgerDatabase {
    /// Waits until a script that plays another worker holds what it is to hold: it tells by taking advisory lock 1 then.
    func waitForHolder() async throws {
        try await eventually("another worker holds its rows") {
            try await count(
                """
                SELECT count(*) FROM pg_locks l JOIN pg_database d ON d.oid = l.database
                WHERE d.datname = current_database() AND l.locktype = 'advisory' AND l.objid = 1
                """
            ) > 0
        }
    }

    /// For a script that plays another worker: waits until somebody waits for it, a minute at most, so that a test that
    /// fails comes to its end.
    static let untilSomebodyWaits = """
        DO $$
        BEGIN
            FOR i IN 1..6000 LOOP
                EXIT WHEN EXISTS (
                    SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'
                );
                PERFORM pg_sleep(0.01);
                PERFORM pg_stat_clear_snapshot();
            END LOOP;
        END
        $$;
        """
}
