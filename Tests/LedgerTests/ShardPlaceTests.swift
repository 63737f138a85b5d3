// SPDX-License-Identifier: Apache-2.0

import Ledger
import TestSupport
import Testing

@Suite struct ShardPlaceTests {
    private static let (first, second) = (ShardPlace(0, of: 2), ShardPlace(1, of: 2))

    @Test func `a database keeps the place that it was migrated in`() async throws {
        try await LedgerDatabase.empty { database in
            try await Migrator(pool: database.pool, place: Self.second).checkPlace()
            _ = try await Migrator(pool: database.pool, place: Self.second).migrate()
            try await Migrator(pool: database.pool, place: Self.second).check()
            #expect(try await Migrator(pool: database.pool, place: Self.second).migrate() == [])

            for other in [Self.first, .only, ShardPlace(1, of: 3)] {
                let refusal = Migrator.Refusal.misplaced(Self.second, wanted: other)
                let migrator = Migrator(pool: database.pool, place: other)
                await #expect(throws: refusal) { try await migrator.checkPlace() }
                await #expect(throws: refusal) { try await migrator.migrate() }
                await #expect(throws: refusal) { try await migrator.check() }
            }
        }
    }

    @Test func `one that was never told its place may not be used before it is`() async throws {
        try await LedgerDatabase.with { database in
            try await database.script("DELETE FROM courier.shard")
            let migrator = Migrator(pool: database.pool, place: Self.first)
            await #expect(throws: Migrator.Refusal.misplaced(nil, wanted: Self.first)) { try await migrator.check() }
            _ = try await migrator.migrate()
            try await migrator.check()
        }
    }

    @Test func `one that was in use before there were places is the only one`() async throws {
        try await LedgerDatabase.with { database in
            _ = try await LedgerWorker(database.ledger()).claim()
            try await database.script(
                "DROP TABLE courier.shard; DELETE FROM courier.schema_migration WHERE name LIKE '%_shards'"
            )
            let refusal = Migrator.Refusal.misplaced(.only, wanted: Self.first)
            await #expect(throws: refusal) { try await Migrator(pool: database.pool, place: Self.first).migrate() }
            _ = try await Migrator(pool: database.pool).migrate()
            try await Migrator(pool: database.pool).check()
        }
    }
}
