// SPDX-License-Identifier: Apache-2.0

import PostgresClient
package import Verification

extension PostgresLedger: BacklogGauge {
    package func backlog() async throws -> Backlog {
        let rows = try await pool.withSession { try $0.execute(Self.countBacklog()) }
        for row in rows { return Backlog(dueSends: Int(try row.int64(0)), outbox: Int(try row.int64(1))) }
        throw PostgresError(.unexpectedResult)
    }

    /// Reads no more than the limit of each, in the order of an index.
    static func countBacklog() -> Statement {
        Statement(
            """
            SELECT
                (SELECT count(*) FROM (
                    SELECT FROM courier.send s WHERE s.lease_until < statement_timestamp() LIMIT $1
                ) AS due),
                (SELECT count(*) FROM (SELECT FROM courier.outbox LIMIT $1) AS waiting)
            """,
            [.int32(Backlog.limit)]
        )
    }
}
