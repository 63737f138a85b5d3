// SPDX-License-Identifier: Apache-2.0

package import Formats
package import PostgresClient
package import Verification

/// Adaptive routes: the evidence, and the shares that every worker reads.
extension PostgresLedger: RouteLedger {
    package func routesVersion() async throws -> Int64 {
        try await pool.withSession { session in try session.execute(Self.readRoutesVersion).onlyRow.int64(0) }
    }

    package func routeShares() async throws -> RouteShares {
        let rows = try await pool.withSession { session in try session.execute(Self.readShares) }
        return try RouteShares(rows)
    }

    package func routeHours(since: Timestamp) async throws -> ConversionCounts {
        let statement = Self.readRouteHours(since: since)
        return try ConversionCounts(firsts: try await pool.withSession { session in try session.execute(statement) })
    }

    package func store(_ shares: RouteShares, by reader: UUIDValue) async throws -> Bool {
        try await write(Self.replaceShares(shares), as: reader)
    }

    // MARK: Statements

    static let readRoutesVersion = Statement(
        "SELECT r.routes_version FROM courier.conversion_reader r WHERE r.is_only_row"
    ).repeated

    package static let readShares = Statement(
        """
        SELECT s.tenant, s.region, s.provider, s.share, s.conversion, s.deviation, s.observations, s.silent_since,
            s.silent_until
        FROM courier.route_share s
        ORDER BY s.tenant, s.region, s.place
        """
    ).repeated

    package static func readRouteHours(since: Timestamp) -> Statement {
        Statement(
            """
            SELECT c.hour, c.tenant, c.region, c.provider, c.confirmed, c.first_sends, c.first_approved
            FROM courier.conversion c
            WHERE c.hour >= $1 AND c.first_sends > 0
            """,
            [.timestamp(microsecondsSinceUnixEpoch: since.microseconds)]
        )
    }

    static func replaceShares(_ shares: RouteShares) -> [Statement] {
        let rows = shares.places.flatMap { place, shares in
            shares.enumerated().map { (place: place, index: $0.offset, share: $0.element) }
        }
        .sorted { ($0.place.tenant, $0.place.region, $0.index) < ($1.place.tenant, $1.place.region, $1.index) }
        let all = rows.map(\.share)
        return [
            Statement("DELETE FROM courier.route_share", []),
            Statement(
                """
                INSERT INTO courier.route_share (
                    tenant, region, provider, place, share, conversion, deviation, observations, silent_since,
                    silent_until
                )
                SELECT
                    unnest($1::text[]), unnest($2::text[]), unnest($3::text[]), unnest($4::int4[]),
                    unnest($5::int4[]), unnest($6::float8[]), unnest($7::float8[]), unnest($8::float8[]),
                    unnest($9::timestamptz[]), unnest($10::timestamptz[])
                """,
                [
                    .texts(rows.map(\.place.tenant)), .texts(rows.map(\.place.region)), .texts(all.map(\.provider)),
                    .int32s(rows.map { Int32(clamping: $0.index) }), .int32s(all.map { Int32(clamping: $0.share) }),
                    .doubles(all.map(\.conversion)), .doubles(all.map(\.deviation)),
                    .doubles(all.map(\.observations)), .timestamps(all.map { $0.silence?.since.microseconds }),
                    .timestamps(all.map { $0.silence?.until.microseconds }),
                ]
            ),
            Statement(
                "UPDATE courier.conversion_reader r SET routes_version = r.routes_version + 1 WHERE r.is_only_row",
                []
            ),
        ]
    }
}

extension RouteShares {
    /// Reads the rows of `readShares`.
    package init(_ rows: Rows) throws {
        var places: [Place: [RouteShare]] = [:]
        for row in rows {
            let since = try row.optionalTimestamp(7).map { Timestamp(microseconds: $0) }
            let until = try row.optionalTimestamp(8).map { Timestamp(microseconds: $0) }
            let share = RouteShare(
                provider: try row.text(2),
                share: Int(try row.int32(3)),
                conversion: try row.double(4),
                deviation: try row.double(5),
                observations: try row.double(6),
                silence: since.flatMap { since in until.map { SilentRoutes.Silence(since: since, until: $0) } }
            )
            places[Place(tenant: try row.text(0), region: try row.text(1)), default: []].append(share)
        }
        self.init(places)
    }
}
