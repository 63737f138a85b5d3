// SPDX-License-Identifier: Apache-2.0

import Formats
package import PostgresClient
package import Verification

/// The brake's board, which every worker reads and whose blocks count the requests that they stopped.
extension PostgresLedger: BrakeLedger {
    package func brakeStatus() async throws -> BrakeStatus {
        try await pool.withSession { session in
            let row = try session.execute(Self.readBrakeStatus).onlyRow
            let lag = try row.optionalInt64(1).map { Duration.milliseconds(max(0, $0)) }
            return BrakeStatus(version: try row.int64(0), lag: lag)
        }
    }

    package func brakeBoard() async throws -> BrakeBoard {
        let answers = try await pool.withSession { session in
            try session.pipeline([Self.readBlocks(endedWithin: Brake.window), Self.readOverrides])
        }
        return BrakeBoard(
            blocks: try Self.blocks(answers[0]).map { ($0.tenant, $0.block, $0.isAsleep) },
            overrides: try answers[1].mapKnown { try BrakeOverride($0) }
        )
    }

    package func add(_ refusals: [BrakeRefusal]) async throws {
        guard !refusals.isEmpty else { return }
        let statement = Self.addRefusals(refusals)
        _ = try await pool.withSession { session in try session.execute(statement) }
    }

    // MARK: Statements

    static let readBrakeStatus = Statement(
        """
        SELECT c.version, CASE WHEN r.judged_to > '-infinity'
            THEN (extract(epoch FROM clock_timestamp() - r.judged_to) * 1000)::int8 END
        FROM courier.brake_change c, courier.conversion_reader r
        WHERE c.id AND r.is_only_row
        """
    ).repeated

    /// Reads the blocks in force, and those that ended within a time.
    package static func readBlocks(endedWithin time: Duration) -> Statement {
        Statement(
            """
            SELECT b.tenant, b.scope, b.key, b.region, b.state, b.asleep, b.began_at, b.changes_at, b.length_ms,
                b.trips, b.expected, b.observed, b.probes_sent, b.probes_approved, b.refused_at
            FROM courier.brake_block b
            WHERE b.state <> 'ended' AND b.changes_at > '-infinity'
            UNION ALL
            SELECT b.tenant, b.scope, b.key, b.region, b.state, b.asleep, b.began_at, b.changes_at, b.length_ms,
                b.trips, b.expected, b.observed, b.probes_sent, b.probes_approved, b.refused_at
            FROM courier.brake_block b
            WHERE b.changes_at > statement_timestamp() - $1 * interval '1 microsecond' AND b.state = 'ended'
            """,
            [.int64(time.microseconds)]
        )
    }

    package static let readOverrides = Statement(
        """
        SELECT o.tenant, o.scope, o.key, o.action, o.until, o.maximum, o.used, o.reason
        FROM courier.brake_override o WHERE o.until > statement_timestamp()
        """
    ).repeated

    /// Adds stopped requests to the orders to block, which refuse first, and else to the blocks.
    ///
    /// Rows are locked in the order of their keys.
    package static func addRefusals(_ refusals: [BrakeRefusal]) -> Statement {
        Statement(
            """
            WITH stopped AS MATERIALIZED (
                SELECT unnest($1::text[]) AS tenant, unnest($2::text[]) AS scope, unnest($3::int8[]) AS key,
                    unnest($4::int8[]) AS count, unnest($5::timestamptz[]) AS at
            ),
            ordered AS MATERIALIZED (
                SELECT o.tenant, o.scope, o.key, s.count
                FROM stopped s
                JOIN courier.brake_override o ON o.tenant = s.tenant AND o.scope = s.scope AND o.key = s.key
                WHERE o.action = 'block' AND o.created_at <= s.at AND s.at < o.until
                ORDER BY o.tenant, o.scope, o.key
                FOR UPDATE OF o
            ),
            counted AS (
                UPDATE courier.brake_override o SET refused = o.refused + s.count
                FROM ordered s
                WHERE o.tenant = s.tenant AND o.scope = s.scope AND o.key = s.key
            ),
            locked AS MATERIALIZED (
                SELECT b.tenant, b.scope, b.key, s.count, s.at
                FROM stopped s
                JOIN courier.brake_block b ON b.tenant = s.tenant AND b.scope = s.scope AND b.key = s.key
                WHERE (s.tenant, s.scope, s.key) NOT IN (SELECT o.tenant, o.scope, o.key FROM ordered o)
                ORDER BY b.tenant, b.scope, b.key
                FOR UPDATE OF b
            )
            UPDATE courier.brake_block b
            SET refused = b.refused + l.count, refused_at = greatest(b.refused_at, l.at)
            FROM locked l
            WHERE b.tenant = l.tenant AND b.scope = l.scope AND b.key = l.key
            """,
            [
                .texts(refusals.map(\.tenant)), .texts(refusals.map(\.key.scope.word)),
                .int64s(refusals.map(\.key.value)), .int64s(refusals.map { Int64($0.count) }),
                .timestamps(refusals.map(\.at.microseconds)),
            ]
        )
    }

    static func blocks(_ rows: Rows) throws -> [TenantBlock] {
        try rows.mapKnown { try TenantBlock($0) }
    }
}

extension BrakeKey {
    init(scope text: String, _ value: Int64) throws(UnknownValue) {
        guard let scope = BrakeScope(word: text) else { throw UnknownValue() }
        self.init(scope, value)
    }
}

extension TenantBlock {
    /// Reads a row of `readBlocks`.
    fileprivate init(_ row: Row) throws {
        guard let state = BrakeBlock.State(rawValue: try row.text(4)) else { throw UnknownValue() }
        let beganAt = try Timestamp(row, 6)
        let block = BrakeBlock(
            try BrakeKey(scope: row.text(1), row.int64(2)),
            region: try row.text(3),
            state: state,
            beganAt: beganAt,
            changesAt: try Timestamp(row, 7),
            length: .milliseconds(try row.int64(8)),
            trips: Int(try row.int32(9)),
            shortfall: Shortfall(storedExpected: try row.double(10), observed: try row.double(11)),
            probesSent: Int(try row.int32(12)),
            probesApproved: Int(try row.int32(13)),
            refusedAt: try row.optionalTimestamp(14).map { Timestamp(microseconds: $0) } ?? beganAt
        )
        self.init(tenant: try row.text(0), block: block, isAsleep: try row.bool(5))
    }
}

extension BrakeOverride {
    fileprivate init(_ row: Row) throws {
        guard let scope = Scope(rawValue: try row.text(1)), let action = Action(rawValue: try row.text(3)) else {
            throw UnknownValue()
        }
        self.init(
            tenant: try row.text(0),
            scope: scope,
            key: try row.int64(2),
            action: action,
            until: try Timestamp(row, 4),
            maximum: try row.optionalInt64(5),
            used: try row.int64(6),
            reason: try row.text(7)
        )
    }
}
