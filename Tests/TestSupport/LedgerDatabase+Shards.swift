// SPDX-License-Identifier: Apache-2.0

package import Ledger
import PostgresClient
package import Verification

extension LedgerDatabase {
    /// Lends fresh databases that are the shards of one ledger, and drops them afterwards.
    package static func withShards<Result>(
        _ count: Int,
        _ body: ([LedgerDatabase]) async throws -> Result
    ) async throws -> Result {
        try await withEmpty(count) { databases in
            for (number, database) in databases.enumerated() {
                _ = try await Migrator(pool: database.pool, place: ShardPlace(number, of: count)).migrate()
            }
            return try await body(databases)
        }
    }

    /// Lends several databases without any migration, which together take one place in the line.
    package static func withEmpty<Result>(
        _ count: Int,
        _ body: ([LedgerDatabase]) async throws -> Result
    ) async throws -> Result {
        try await turnstile.pass { try await add(count, to: [], body) }
    }

    private static func add<Result>(
        _ count: Int,
        to databases: [LedgerDatabase],
        _ body: ([LedgerDatabase]) async throws -> Result
    ) async throws -> Result {
        guard count > 0 else { return try await body(databases) }
        return try await make(connections: 2, settings: []) { database in
            try await add(count - 1, to: databases + [database], body)
        }
    }

    /// Refuses every connection and ends those that there are, as a server does that has failed, until it is back.
    package func withConnectionsRefused<Result>(
        _ other: LedgerDatabase,
        _ body: () async throws -> Result
    ) async throws -> Result {
        let name = try await text("SELECT current_database()") ?? ""
        try await other.script("ALTER DATABASE \(name) ALLOW_CONNECTIONS false")
        try await other.script("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '\(name)'")
        return try await doing(body) {
            try await other.script("ALTER DATABASE \(name) ALLOW_CONNECTIONS true")
        }
    }
}

extension [LedgerDatabase] {
    /// The ledger over them: of one, a plain one.
    package func ledger(
        sweepSize: Int32 = 500,
        keys: CodeKeys = .test,
        onChange: @escaping @Sendable (ShardChange) -> Void = { _ in }
    ) -> any Ledger {
        let ledgers = map { $0.ledger(sweepSize: sweepSize, keys: keys) }
        return count == 1 ? ledgers[0] : ShardedLedger(ledgers, keys: keys, onChange: onChange)
    }

    /// One number of a query in each.
    package func counts(_ sql: StaticString) async throws -> [Int64] {
        var counts: [Int64] = []
        for database in self { counts.append(try await database.count(sql)) }
        return counts
    }

    package func script(_ sql: String) async throws {
        for database in self { try await database.script(sql) }
    }
}
