// SPDX-License-Identifier: Apache-2.0

import Administration
import Formats
import TestSupport
import Testing
import Verification

@testable import Ledger

/// Tests the counts of requests that operators' orders refused.
@Suite struct BrakeRefusalTests {
    private static func target(_ key: Int64) -> BrakeTarget { BrakeTarget(tenant: "default", scope: .prefix, key: key) }

    @Test func `an order to block counts what it refused, and a block what no order did`() async throws {
        try await LedgerDatabase.with { database in
            let desk = BrakeDesk(pool: database.pool)
            let start = try await LedgerWorker(database.ledger()).now()
            try await database.script(
                """
                INSERT INTO courier.brake_block (tenant, scope, key, region, state, asleep, began_at, changes_at,
                    length_ms, trips, expected, observed, probes_sent, probes_approved)
                SELECT 'default', 'prefix', n, 'DE', 'half_open', false, clock_timestamp(), clock_timestamp(), 300000,
                    1, 15, 0, 0, 0
                FROM generate_series(1, 3) AS n
                """
            )
            for key in [Int64(2), 4] {
                _ = try await desk.place(.block, on: Self.target(key), lasting: .seconds(3600), reason: "attack")
            }
            _ = try await desk.place(.allow, on: Self.target(3), lasting: .seconds(3600), reason: "testers")
            let version = try await database.ledger().brakeStatus().version
            try await database.withLogin(granted: "courier_worker", settings: PostgresLedger.sessionSettings) { pool in
                let ledger = database.ledger(on: pool)
                for _ in 0..<2 {
                    let refusals = (1...5).map { key in
                        BrakeRefusal(
                            tenant: "default",
                            key: BrakeKey(.prefix, Int64(key)),
                            count: 10 * key,
                            at: start + .seconds(60)
                        )
                    }
                    try await ledger.add(refusals)
                }
                // From before the orders: the block's.
                try await ledger.add([
                    BrakeRefusal(tenant: "default", key: BrakeKey(.prefix, 2), count: 3, at: start - .seconds(60))
                ])
            }
            #expect(try await database.ledger().brakeStatus().version == version)
            let state = try await desk.state(tenant: nil)
            let orders = Dictionary(uniqueKeysWithValues: state.orders.map { ($0.order.key, $0.refused) })
            #expect(orders == [2: 40, 3: 0, 4: 80])
            let blocks = Dictionary(uniqueKeysWithValues: state.blocks.map { ($0.block.key.value, $0.refused) })
            #expect(blocks == [1: 20, 2: 3, 3: 60])
            // Placed anew, its count begins anew.
            _ = try await desk.place(.block, on: Self.target(4), lasting: .seconds(3600), reason: "attack")
            #expect(try await desk.state(tenant: nil).orders.first { $0.order.key == 4 }?.refused == 0)
        }
    }

    @Test func `an operator sees the tenants that the database knows, and how far the reader is`() async throws {
        try await LedgerDatabase.with { database in
            try await database.script(
                "INSERT INTO courier.conversion VALUES (now(), 'shop', 'DE', '', false, 10, 7, 12, 1, 2, 3, 4, 5, 6)"
            )
            try await database.withLogin(granted: "courier_operator") { pool in
                let desk = BrakeDesk(pool: pool)
                #expect(try await desk.state(tenant: nil).judgedTo == nil)
                _ = try await desk.place(.block, on: Self.target(4), lasting: .seconds(3600), reason: "attack")
                #expect(try await desk.tenants() == ["default", "shop"])
                let judged = try await desk.state(tenant: nil).now - .seconds(500)
                _ = try await database.ledger().elect(UUIDValue(1), lease: .seconds(60), judgedTo: judged)
                let state = try await desk.state(tenant: nil)
                #expect(state.judgedTo == judged)
                #expect(try #require(state.board.readerLag) >= .seconds(500))
            }
        }
    }
}
