// SPDX-License-Identifier: Apache-2.0

import Administration
import Formats
import PostgresClient
import TestSupport
import Testing
import Verification

@Suite struct BrakeDeskTests {
    private static let target = BrakeTarget(tenant: "default", scope: .prefix, key: -7)

    /// Stores a block that began now, in a state.
    private func store(
        _ state: String,
        key: Int64,
        tenant: String = "default",
        in database: LedgerDatabase
    ) async throws {
        let statement = Statement(
            """
            INSERT INTO courier.brake_block (tenant, scope, key, region, state, asleep, began_at, changes_at, length_ms,
                trips, expected, observed, probes_sent, probes_approved, refused)
            VALUES ($1, 'prefix', $2, 'DE', $3, false, clock_timestamp(), clock_timestamp() + interval '5 minutes', 300000,
                2, 15.5, 1, 0, 0, 42)
            """,
            [.text(tenant), .int64(key), .text(state)]
        )
        try await database.pool.withSession { _ = try $0.execute(statement) }
    }

    @Test func `an operator's login reads blocks, places an order in place of another, and takes it back`() async throws
    {
        try await LedgerDatabase.with { database in
            try await store("blocked", key: -7, in: database)
            try await store("half_open", key: 8, tenant: "other", in: database)
            try await database.withLogin(granted: "courier_operator") { pool in
                let desk = BrakeDesk(pool: pool)
                let before = try await desk.state(tenant: nil)
                #expect(before.blocks.map(\.tenant) == ["default", "other"] && before.orders.isEmpty)
                let block = try #require(try await desk.state(tenant: "default").blocks.first)
                #expect(block.block.key == BrakeKey(.prefix, -7) && block.block.state == .blocked)
                #expect(block.block.shortfall == Shortfall(expected: 15.5, observed: 1) && block.block.trips == 2)
                #expect(block.refused == 42 && !block.isAsleep && block.block.length == .seconds(300))

                _ = try await desk.place(.allow, on: Self.target, lasting: .seconds(3600), reason: "testers")
                let until = try await desk.place(.block, on: Self.target, lasting: .seconds(60), reason: "attack")
                let state = try await desk.state(tenant: "default")
                let order = try #require(state.orders.first)
                #expect(state.orders.count == 1 && order.order.action == .block && order.order.until == until)
                #expect(order.order.reason == "attack" && !order.createdBy.isEmpty)
                #expect(until > state.now && until <= state.now + .seconds(60))
                #expect(state.board["default"] != nil && state.board["other"] == nil)

                #expect(try await desk.lift(Self.target) == BrakeDesk.Lifted(blocks: 1, orders: 1))
                #expect(try await desk.lift(Self.target) == BrakeDesk.Lifted(blocks: 0, orders: 0))
                let after = try await desk.state(tenant: "default")
                #expect(after.blocks.map(\.block.state) == [.ended] && after.orders.isEmpty)
                #expect(try await desk.state(tenant: "other").blocks.map(\.block.state) == [.halfOpen])
            }
        }
    }

    @Test func `an order names the login that placed it and its time, whatever it says`() async throws {
        try await LedgerDatabase.with { database in
            try await database.withLogin(granted: "courier_operator") { pool in
                let desk = BrakeDesk(pool: pool)
                let login = try await pool.withSession { session in
                    try session.script(
                        """
                        INSERT INTO courier.brake_override (tenant, scope, key, action, until, reason, created_by, created_at)
                        VALUES ('default', 'ip', 7, 'allow', 'infinity', 'r', 'somebody', '-infinity');
                        UPDATE courier.brake_override SET created_by = 'else', reason = 'r2';
                        """
                    )
                    return try session.execute(Statement("SELECT session_user::text")).onlyRow.text(0)
                }
                let state = try await desk.state(tenant: nil)
                let order = try #require(state.orders.first)
                #expect(order.createdBy == login && order.order.reason == "r2")
                #expect(order.createdAt <= state.now && state.now - order.createdAt < .seconds(600))
            }
        }
    }

    @Test func `each change raises the version that workers read`() async throws {
        try await LedgerDatabase.with { database in
            let desk = BrakeDesk(pool: database.pool)
            func version() async throws -> String? {
                try await database.text("SELECT version::text FROM courier.brake_change")
            }
            try await store("blocked", key: -7, in: database)
            var versions = [try await version()]
            _ = try await desk.place(.launch, on: Self.target, lasting: .seconds(60), reason: "launch")
            versions.append(try await version())
            _ = try await desk.lift(Self.target)
            versions.append(try await version())
            #expect(Set(versions).count == 3)
        }
    }

    @Test func `a launch has a maximum, and a new one begins at none of it`() async throws {
        try await LedgerDatabase.with { database in
            let desk = BrakeDesk(pool: database.pool)
            let target = BrakeTarget(tenant: "default", scope: .region, key: BrakeKey(region: "BR").value)
            func order() async throws -> BrakeOverride? { try await desk.state(tenant: nil).orders.first?.order }
            _ = try await desk.place(.launch, on: target, lasting: .seconds(3600), maximum: 100, reason: "TV")
            #expect(try await order()?.maximum == 100)
            try await database.script("UPDATE courier.brake_override SET used = 120, matured = 90")
            let used = try #require(try await order())
            #expect(used.used == 120 && used.isUsedUp)
            #expect(try await desk.state(tenant: nil).board == .empty)
            _ = try await desk.place(.launch, on: target, lasting: .seconds(3600), maximum: 200, reason: "TV")
            let anew = try #require(try await order())
            #expect(anew.maximum == 200 && anew.used == 0)
            #expect(try await database.count("SELECT sum(matured)::bigint FROM courier.brake_override") == 0)
            _ = try await desk.place(.launch, on: target, lasting: .seconds(3600), reason: "TV")
            #expect(try await order()?.maximum == nil)
        }
    }

    @Test func `an order that has ended and a block that ended long ago are not shown`() async throws {
        try await LedgerDatabase.with { database in
            let desk = BrakeDesk(pool: database.pool)
            try await store("ended", key: 1, in: database)
            try await store("ended", key: 2, in: database)
            try await database.pool.withSession { session in
                try session.script(
                    "UPDATE courier.brake_block SET changes_at = clock_timestamp() - interval '61 minutes' WHERE key = 1"
                )
            }
            _ = try await desk.place(.allow, on: Self.target, lasting: .microseconds(1), reason: "over")
            let state = try await desk.state(tenant: nil)
            #expect(state.blocks.map(\.block.key.value) == [2] && state.orders.isEmpty)
        }
    }
}
