// SPDX-License-Identifier: Apache-2.0

package import Formats
package import PostgresClient
package import Verification

/// Shows the toll-fraud brake's blocks to an operator, and writes the operator's orders.
package struct BrakeDesk: Sendable {
    let pool: PostgresPool

    /// - Parameter pool: connections of a role that is granted `courier_operator`, or of the owner.
    package init(pool: PostgresPool) {
        self.pool = pool
    }

    package struct Block: Sendable, Equatable {
        package let tenant: String
        package let block: BrakeBlock

        /// True while the tenant has too few approvals for a verdict: the block then only records.
        package let isAsleep: Bool

        /// The requests that the block stopped, including those that it only recorded.
        package let refused: Int64

        package init(tenant: String, block: BrakeBlock, isAsleep: Bool, refused: Int64) {
            self.tenant = tenant
            self.block = block
            self.isAsleep = isAsleep
            self.refused = refused
        }
    }

    package struct Order: Sendable, Equatable {
        package let order: BrakeOverride
        package let createdAt: Timestamp
        package let createdBy: String

        /// The requests that an order to block refused.
        package let refused: Int64

        package init(order: BrakeOverride, createdAt: Timestamp, createdBy: String, refused: Int64 = 0) {
            self.order = order
            self.createdAt = createdAt
            self.createdBy = createdBy
            self.refused = refused
        }
    }

    /// The tables at one moment.
    package struct State: Sendable {
        /// The database's time.
        package let now: Timestamp

        /// The time up to which the fleet's reader has judged verifications; nil before its first judgement.
        package let judgedTo: Timestamp?
        package let blocks: [Block]
        package let orders: [Order]

        package init(now: Timestamp, judgedTo: Timestamp? = nil, blocks: [Block], orders: [Order]) {
            self.now = now
            self.judgedTo = judgedTo
            self.blocks = blocks
            self.orders = orders
        }

        /// The same state in the form that workers use.
        package var board: BrakeBoard {
            let blocks = blocks.map { ($0.tenant, $0.block, $0.isAsleep) }
            var board = BrakeBoard(blocks: blocks, overrides: orders.map(\.order))
            board.readerLag = judgedTo.map { now - $0 }
            return board
        }
    }

    /// Throws `KeyCheck.OtherKeys` when the fingerprint keys are not the fleet's: with another key no scope would match.
    package func checkKeys(_ values: [KeyCheckValue]) async throws {
        try await KeyCheck(pool).compareAsOperator(values)
    }

    /// Reads the blocks that are in force or ended within an hour, and the orders that have not ended.
    package func state(tenant: String?) async throws -> State {
        let statements = [Self.readTime, Self.readBlocks(tenant), Self.readOrders(tenant)]
        return try await pool.withTransaction { transaction in
            let answers = try transaction.run(statements)
            let times = try answers[0].onlyRow
            return State(
                now: Timestamp(microseconds: try times.timestamp(0)),
                judgedTo: try times.optionalTimestamp(1).map { Timestamp(microseconds: $0) },
                blocks: try answers[1].compactMap { row in try Block(row) },
                orders: try answers[2].compactMap { row in try Order(row) }
            )
        }
    }

    /// The tenants with messages, blocks or orders of the last weeks.
    package func tenants() async throws -> [String] {
        let statement = Statement(
            """
            SELECT c.tenant FROM courier.conversion c
            UNION SELECT b.tenant FROM courier.brake_block b
            UNION SELECT o.tenant FROM courier.brake_override o
            ORDER BY 1
            """
        )
        return try await pool.withSession { session in try session.execute(statement).map { try $0.text(0) } }
    }

    /// Places an order, in place of the scope's earlier one, and returns its end.
    package func place(
        _ action: BrakeOverride.Action,
        on target: BrakeTarget,
        lasting: Duration,
        maximum: Int64? = nil,
        reason: String
    ) async throws -> Timestamp {
        let statement = Statement(
            """
            INSERT INTO courier.brake_override AS o (tenant, scope, key, action, until, reason, maximum)
            VALUES ($1, $2, $3, $4, clock_timestamp() + make_interval(secs => $5::float8), $6, $7)
            ON CONFLICT (tenant, scope, key) DO UPDATE
            SET action = EXCLUDED.action, until = EXCLUDED.until, maximum = EXCLUDED.maximum,
                reason = EXCLUDED.reason
            RETURNING o.until
            """,
            target.parameters + [
                .text(action.rawValue), .double(Double(lasting.microseconds) / 1e6), .text(reason),
                .int64(maximum),
            ]
        )
        return try await pool.withTransaction { transaction in
            Timestamp(microseconds: try transaction.run([statement])[0].onlyRow.timestamp(0))
        }
    }

    /// The numbers of blocks that a lift ended, and of orders that it cancelled.
    package struct Lifted: Sendable, Equatable {
        package let blocks: Int64
        package let orders: Int64

        package init(blocks: Int64, orders: Int64) {
            self.blocks = blocks
            self.orders = orders
        }
    }

    /// Ends the block of a scope and cancels its order.
    package func lift(_ target: BrakeTarget) async throws -> Lifted {
        let statement = Statement(
            """
            WITH ended AS (
                UPDATE courier.brake_block b SET state = 'ended', changes_at = clock_timestamp()
                WHERE b.tenant = $1 AND b.scope = $2 AND b.key = $3 AND b.state <> 'ended'
                RETURNING 1
            ), withdrawn AS (
                DELETE FROM courier.brake_override o WHERE o.tenant = $1 AND o.scope = $2 AND o.key = $3
                RETURNING 1
            )
            SELECT (SELECT count(*) FROM ended), (SELECT count(*) FROM withdrawn)
            """,
            target.parameters
        )
        return try await pool.withTransaction { transaction in
            let row = try transaction.run([statement])[0].onlyRow
            return Lifted(blocks: try row.int64(0), orders: try row.int64(1))
        }
    }

    private static let readTime = Statement(
        "SELECT clock_timestamp(), nullif(r.judged_to, '-infinity') FROM courier.conversion_reader r"
    )

    private static func readBlocks(_ tenant: String?) -> Statement {
        Statement(
            """
            SELECT b.tenant, b.scope, b.key, b.region, b.state, b.asleep, b.began_at, b.changes_at, b.length_ms, b.trips,
                b.expected, b.observed, b.probes_sent, b.probes_approved, coalesce(b.refused_at, b.began_at), b.refused
            FROM courier.brake_block b
            WHERE ($1::text IS NULL OR b.tenant = $1)
                AND (b.state <> 'ended' OR b.changes_at > clock_timestamp() - interval '1 hour')
            ORDER BY b.tenant, b.state = 'ended', b.refused DESC, b.scope, b.key
            """,
            [.text(tenant)]
        )
    }

    private static func readOrders(_ tenant: String?) -> Statement {
        Statement(
            """
            SELECT o.tenant, o.scope, o.key, o.action, o.until, o.maximum, o.used, o.reason, o.created_at,
                o.created_by, o.refused
            FROM courier.brake_override o
            WHERE ($1::text IS NULL OR o.tenant = $1) AND o.until > clock_timestamp()
            ORDER BY o.tenant, o.action, o.scope, o.until, o.key
            """,
            [.text(tenant)]
        )
    }
}

/// The tenant and the scope of an order or a lift.
package struct BrakeTarget: Sendable, Equatable {
    package let tenant: String
    package let scope: BrakeOverride.Scope
    package let key: Int64

    package init(tenant: String, scope: BrakeOverride.Scope, key: Int64) {
        self.tenant = tenant
        self.scope = scope
        self.key = key
    }

    fileprivate var parameters: [Parameter] { [.text(tenant), .text(scope.rawValue), .int64(key)] }
}

extension BrakeDesk.Block {
    /// Nil for a word that a newer version wrote.
    fileprivate init?(_ row: Row) throws(PostgresError) {
        guard let scope = BrakeScope(word: try row.text(1)), let state = BrakeBlock.State(rawValue: try row.text(4))
        else { return nil }
        tenant = try row.text(0)
        block = BrakeBlock(
            BrakeKey(scope, try row.int64(2)),
            region: try row.text(3),
            state: state,
            beganAt: Timestamp(microseconds: try row.timestamp(6)),
            changesAt: Timestamp(microseconds: try row.timestamp(7)),
            length: .milliseconds(try row.int64(8)),
            trips: Int(try row.int32(9)),
            shortfall: Shortfall(storedExpected: try row.double(10), observed: try row.double(11)),
            probesSent: Int(try row.int32(12)),
            probesApproved: Int(try row.int32(13)),
            refusedAt: Timestamp(microseconds: try row.timestamp(14))
        )
        isAsleep = try row.bool(5)
        refused = try row.int64(15)
    }
}

extension BrakeDesk.Order {
    /// Nil for a word that a newer version wrote.
    fileprivate init?(_ row: Row) throws(PostgresError) {
        guard let scope = BrakeOverride.Scope(rawValue: try row.text(1)),
            let action = BrakeOverride.Action(rawValue: try row.text(3))
        else { return nil }
        order = BrakeOverride(
            tenant: try row.text(0),
            scope: scope,
            key: try row.int64(2),
            action: action,
            until: Timestamp(microseconds: try row.timestamp(4)),
            maximum: try row.optionalInt64(5),
            used: try row.int64(6),
            reason: try row.text(7)
        )
        createdAt = Timestamp(microseconds: try row.timestamp(8))
        createdBy = try row.text(9)
        refused = try row.int64(10)
    }
}
