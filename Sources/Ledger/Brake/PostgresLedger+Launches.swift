// SPDX-License-Identifier: Apache-2.0

package import Formats
package import PostgresClient
package import Verification

/// The messages that announced launches have used, as the fleet's reader counts them.
extension PostgresLedger {
    package func launches() async throws -> [BrakeLaunch] {
        let rows = try await pool.withSession { session in try session.execute(Self.readLaunches) }
        return try rows.map { row in
            BrakeLaunch(
                turn: BrakeTurn(tenant: try row.text(0), key: BrakeKey(.region, try row.int64(1))),
                createdAt: try Timestamp(row, 2),
                maximum: try row.int64(3),
                maturedTo: try row.optionalTimestamp(4).map { Timestamp(microseconds: $0) },
                matured: try row.int64(5),
                used: try row.int64(6)
            )
        }
    }

    package func store(_ launches: [BrakeLaunch], by reader: UUIDValue) async throws -> Bool {
        try await write([Self.storeLaunches(launches)], as: reader)
    }

    // MARK: Statements

    package static let readLaunches = Statement(
        """
        SELECT o.tenant, o.key, o.created_at, o.maximum, o.matured_to, o.matured, o.used
        FROM courier.brake_override o
        WHERE o.until > statement_timestamp() AND o.action = 'launch' AND o.scope = 'region' AND o.used < o.maximum
        """
    ).repeated

    /// Updates launches that are still the announced ones, in the order of their keys.
    static func storeLaunches(_ launches: [BrakeLaunch]) -> Statement {
        let launches = launches.sorted {
            ($0.turn.tenant, $0.turn.key.value) < ($1.turn.tenant, $1.turn.key.value)
        }
        return Statement(
            """
            WITH locked AS MATERIALIZED (
                SELECT o.tenant, o.scope, o.key, u.matured_to, u.matured, u.used
                FROM (
                    SELECT unnest($1::text[]) AS tenant, unnest($2::int8[]) AS key, unnest($3::timestamptz[]) AS created_at,
                        unnest($4::timestamptz[]) AS matured_to, unnest($5::int8[]) AS matured, unnest($6::int8[]) AS used
                ) AS u
                JOIN courier.brake_override o
                    ON o.tenant = u.tenant AND o.scope = 'region' AND o.key = u.key AND o.created_at = u.created_at
                ORDER BY o.tenant, o.scope, o.key
                FOR UPDATE OF o
            )
            UPDATE courier.brake_override o
            SET matured_to = l.matured_to, matured = l.matured, used = l.used
            FROM locked l
            WHERE o.tenant = l.tenant AND o.scope = l.scope AND o.key = l.key
            """,
            [
                .texts(launches.map(\.turn.tenant)), .int64s(launches.map(\.turn.key.value)),
                .timestamps(launches.map(\.createdAt.microseconds)),
                .timestamps(launches.map { ($0.maturedTo ?? $0.createdAt).microseconds }),
                .int64s(launches.map(\.matured)), .int64s(launches.map(\.used)),
            ]
        )
    }
}
