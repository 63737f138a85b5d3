// SPDX-License-Identifier: Apache-2.0

package import Formats
import Ledger
import PostgresClient
package import Verification

/// Past verifications and their hours, for a replay.
extension BrakeDesk {
    /// The verifications of phone numbers that began from one time up to another, by tenant.
    package func verifications(
        from start: Timestamp,
        to end: Timestamp,
        tenant: String?
    ) async throws -> [String: [ConversionSample]] {
        let statement = Statement(
            "SELECT * FROM courier.brake_history($1, $2, $3)",
            [
                .timestamp(microsecondsSinceUnixEpoch: start.microseconds),
                .timestamp(microsecondsSinceUnixEpoch: end.microseconds), .text(tenant),
            ]
        )
        return try await pool.withSession { session in
            try ConversionSample.byTenant(try session.execute(statement))
        }
    }

    /// The counts of the hours from one time up to another, of all providers together.
    package func hours(from start: Timestamp, to end: Timestamp, tenant: String?) async throws -> ConversionCounts {
        let statement = Statement(
            """
            SELECT c.hour, c.tenant, c.region, c.confirmed, sum(c.verifications)::int8, sum(c.approved)::int8,
                sum(c.sends)::int8, sum(c.within_15)::int8, sum(c.within_30)::int8, sum(c.within_60)::int8,
                sum(c.within_120)::int8, sum(c.within_240)::int8, sum(c.within_600)::int8
            FROM courier.conversion c
            WHERE c.hour >= $1 AND c.hour < $2 AND ($3::text IS NULL OR c.tenant = $3)
            GROUP BY c.hour, c.tenant, c.region, c.confirmed
            """,
            [
                .timestamp(microsecondsSinceUnixEpoch: start.microseconds),
                .timestamp(microsecondsSinceUnixEpoch: end.microseconds), .text(tenant),
            ]
        )
        return try await pool.withSession { session in
            try ConversionCounts(try session.execute(statement))
        }
    }
}
