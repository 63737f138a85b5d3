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
}
