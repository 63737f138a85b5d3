// SPDX-License-Identifier: Apache-2.0

package import Formats
package import PostgresClient
package import Verification

extension PostgresLedger: FeedbackLedger {
    package func confirmed(
        from: Timestamp,
        to: Timestamp,
        by providers: [String],
        approvedAfter: Timestamp,
        upTo: Timestamp
    ) async throws -> [ConfirmedMessage] {
        let statement = Self.readConfirmed(
            from: from,
            to: to,
            by: providers,
            approvedAfter: approvedAfter,
            upTo: upTo
        )
        let rows = try await pool.withSession { session in try session.execute(statement) }
        return try rows.map { row in
            ConfirmedMessage(
                send: SendID(UUIDValue(try row.uuid(0))),
                provider: try row.text(1),
                messageID: try row.text(2),
                approvedAt: try Timestamp(row, 3)
            )
        }
    }

    /// Reads a slice of sends by the times in their ids, and the verification of each: two look-ups by primary key.
    ///
    /// Of a verification with several messages the newest one counts. A verification begins with its first send, so the
    /// days before the slice's hold it, too.
    package static func readConfirmed(
        from: Timestamp,
        to: Timestamp,
        by providers: [String],
        approvedAfter: Timestamp,
        upTo: Timestamp
    ) -> Statement {
        Statement(
            """
            SELECT s.id, s.provider, s.provider_message_id, v.ended_at
            FROM courier.send s
            JOIN courier.verification v ON v.id = s.verification_id
            WHERE s.id >= $1 AND s.id < $2 AND s.provider = ANY ($3) AND s.provider_message_id IS NOT NULL
                AND v.state = 'approved' AND v.ended_at > $4 AND v.ended_at <= $5
                AND v.sends_used = s.number AND NOT v.fictional
            """,
            [
                .uuid(from.uuidFloor), .uuid(to.uuidFloor), .texts(providers),
                .timestamp(microsecondsSinceUnixEpoch: approvedAfter.microseconds),
                .timestamp(microsecondsSinceUnixEpoch: upTo.microseconds),
            ]
        )
    }
}
