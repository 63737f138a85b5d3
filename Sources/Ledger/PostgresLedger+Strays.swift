// SPDX-License-Identifier: Apache-2.0

import PostgresClient
import Verification

// Receipts that name a send by the provider's id alone, of which only one of several databases knows.
extension PostgresLedger {
    /// Those of this database's sends whose messages have one of some ids.
    func knownMessages(_ ids: [String]) async throws -> Set<ProviderMessage> {
        let statement = Self.findMessages(ids)
        let rows = try await pool.withSession { session in try session.execute(statement) }
        var known: Set<ProviderMessage> = []
        for row in rows { known.insert(ProviderMessage(provider: try row.text(0), id: try row.text(1))) }
        return known
    }

    static func findMessages(_ ids: [String]) -> Statement {
        Statement(
            """
            SELECT s.provider, s.provider_message_id FROM courier.send s
            WHERE s.provider_message_id = ANY ($1::text[]) AND s.provider IS NOT NULL
            """,
            [.texts(ids)]
        )
    }

    /// Receipts that are due to be looked for again, and that any database may have the send of.
    func waitingStrays() async throws -> [ReceivedReceipt] {
        let statement = readStrays()
        let rows = try await pool.withSession { session in try session.execute(statement) }
        return try rows.map { try ReceivedReceipt($0, keys: keys.current) }
    }

    func readStrays() -> Statement {
        Statement(
            """
            SELECT r.id, r.provider, r.send_id, r.provider_message_id, r.status, r.reason, r.error_code, r.sealed,
                r.seal_key, r.received_at, r.tries
            FROM courier.receipt r
            WHERE r.due_at < statement_timestamp() AND r.send_id IS NULL
            ORDER BY r.due_at
            LIMIT $1
            """,
            [.int32(settings.sweepSize)]
        )
    }

    /// Forgets receipts that another database has settled.
    func forget(_ receipts: [ReceivedReceipt]) async throws {
        let statement = Self.deleteReceipts(receipts)
        try await pool.withTransaction { transaction in
            _ = try transaction.commit([statement])
        }
    }
}
