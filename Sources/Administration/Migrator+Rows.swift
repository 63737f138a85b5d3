// SPDX-License-Identifier: Apache-2.0

import PostgresClient

extension Migrator {
    /// True when the database holds a request, a verification or an event; false when it has no tables yet.
    package func hasRows() async throws -> Bool {
        try await pool.withSession { session in
            let exists = try session.execute(Statement("SELECT to_regclass('courier.request') IS NOT NULL"))
            guard try exists.onlyRow.bool(0) else { return false }
            let rows = try session.execute(
                Statement(
                    """
                    SELECT EXISTS (SELECT FROM courier.request) OR EXISTS (SELECT FROM courier.verification)
                        OR EXISTS (SELECT FROM courier.outbox) OR EXISTS (SELECT FROM courier.outbox_pack)
                    """
                )
            )
            return try rows.onlyRow.bool(0)
        }
    }
}
