// SPDX-License-Identifier: Apache-2.0

package import Formats
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
            var samples: [String: [ConversionSample]] = [:]
            for row in try session.execute(statement) {
                samples[try row.text(1), default: []].append(try ConversionSample(row))
            }
            return samples
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
            var groups: [ConversionCounts.Group: ConversionCounts.Count] = [:]
            for row in try session.execute(statement) {
                let group = ConversionCounts.Group(
                    hour: Timestamp(microseconds: try row.timestamp(0)),
                    tenant: try row.text(1),
                    region: try row.text(2),
                    provider: "",
                    isConfirmed: try row.bool(3)
                )
                let counts = try (4...12).map { Int(try row.int64($0)) }
                groups[group] = ConversionCounts.Count(
                    verifications: counts[0],
                    approved: counts[1],
                    sends: counts[2],
                    within: Array(counts[3...])
                )
            }
            return ConversionCounts(groups)
        }
    }
}

extension ConversionSample {
    /// Reads a row of `courier.brake_history`.
    fileprivate init(_ row: Row) throws(PostgresError) {
        self.init(
            id: UUIDValue(try row.uuid(0)),
            region: try row.optionalText(2),
            client: try row.optionalInt64(3),
            prefix: try row.optionalInt64(4),
            range: try row.optionalInt64(5),
            isConfirmed: try row.optionalBool(6),
            outcome: try row.int16(7),
            usedProviders: try row.optionalText(8),
            sends: try row.int16(9),
            approvedAt: try row.optionalTimestamp(10).map { Timestamp(microseconds: $0) }
        )
    }
}
