// SPDX-License-Identifier: Apache-2.0

import Administration
import Formats
import Glibc
package import Ledger
package import PostgresClient
import TestTools
package import Verification

/// A database for one test with all migrations, on the server of `COURIER_TEST_POSTGRES_URL`.
package struct LedgerDatabase: Sendable {
    package let url: String
    package let pool: PostgresPool

    package func ledger(
        lease: Duration = .seconds(30),
        sweepSize: Int32 = 500,
        keys: CodeKeys = .test
    ) -> PostgresLedger {
        ledger(on: pool, lease: lease, sweepSize: sweepSize, keys: keys)
    }

    /// A ledger on another pool than the database's own.
    package func ledger(
        on pool: PostgresPool,
        lease: Duration = .seconds(30),
        sweepSize: Int32 = 500,
        keys: CodeKeys = .test
    ) -> PostgresLedger {
        PostgresLedger(
            pool: pool,
            keys: KeySource(keys),
            settings: .test {
                $0.lease = lease
                $0.batchSize = Int(sweepSize)
            }
        )
    }

    /// Creates a new database, and drops it after the body.
    package static func with<Result>(
        connections: Int = 4,
        settings: [(name: String, value: String)] = [],
        _ body: (LedgerDatabase) async throws -> Result
    ) async throws -> Result {
        guard server == nil else {
            // A private server runs a single test, so a template would not save time.
            return try await empty(connections: connections, settings: settings) { database in
                _ = try await Migrator(pool: database.pool).migrate()
                return try await body(database)
            }
        }
        return try await turnstile.pass {
            try await make(connections: connections, isMigrated: true, settings: settings, body)
        }
    }

    /// Creates a new database without migrations, and drops it after the body.
    package static func empty<Result>(
        connections: Int = 4,
        encoding: String = "UTF8",
        settings: [(name: String, value: String)] = [],
        _ body: (LedgerDatabase) async throws -> Result
    ) async throws -> Result {
        try await turnstile.pass {
            try await make(connections: connections, encoding: encoding, settings: settings, body)
        }
    }

    /// Creates a new database; the caller must hold a place of the turnstile.
    private static func make<Result>(
        connections: Int,
        encoding: String = "UTF8",
        isMigrated: Bool = false,
        settings: [(name: String, value: String)],
        _ body: (LedgerDatabase) async throws -> Result
    ) async throws -> Result {
        let name = "courier_test_" + String(UInt64.random(in: 0...(.max)), radix: 36)
        let common = PostgresConfiguration(url: try serverURL(), applicationName: "tests", statementTimeout: maxWait)
        let server = PostgresConnection(common)
        let more =
            if isMigrated {
                " TEMPLATE \(try await LedgerTemplate.shared.current(on: server, common)) STRATEGY wal_log"
            } else if encoding != "UTF8" {
                // An encoding other than the server's needs `template0` and a locale for every encoding.
                " ENCODING '\(encoding)' TEMPLATE template0 LOCALE 'C'"
            } else {
                ""
            }
        try await server.run { session in try session.script("CREATE DATABASE \(name)\(more)") }
        let url = try serverURL(database: name)
        var configuration = common
        configuration.url = url
        configuration.settings += settings
        let pool = PostgresPool(configuration, size: connections)
        return try await doing {
            try await body(LedgerDatabase(url: url, pool: pool))
        } afterwards: {
            await pool.close()
            try await server.run { session in try session.script("DROP DATABASE \(name) WITH (FORCE)") }
            await server.close()
        }
    }

    /// Time limit for slow statements: to drop a database on a busy disk, or to read the results of a long run.
    private static let maxWait = Duration.seconds(120)

    private static let turnstile = Turnstile(places: 6)

    /// The value of a query's first row, as text.
    package func text(_ sql: StaticString, _ parameters: [Parameter] = []) async throws -> String? {
        let statement = Statement(sql, parameters)
        return try await pool.withSession { session in
            for row in try session.execute(statement) { return try row.optionalText(0) }
            return nil
        }
    }

    /// The first column of every row of a query, as text.
    package func texts(_ sql: StaticString, _ parameters: [Parameter] = []) async throws -> [String?] {
        let statement = Statement(sql, parameters)
        return try await pool.withSession { session in
            try session.execute(statement).map { try $0.optionalText(0) }
        }
    }

    package func count(_ sql: StaticString, _ parameters: [Parameter] = []) async throws -> Int64 {
        let statement = Statement(sql, parameters)
        return try await pool.withSession { session in try session.execute(statement).onlyRow.int64(0) }
    }

    /// Runs SQL without a result, such as a shift of stored times.
    package func script(_ sql: String) async throws {
        try await pool.withSession { session in try session.script(sql) }
    }

    /// Creates the migration table of a version before the first release, with `count` numbered migrations.
    ///
    /// Only the first one has the name of a migration file.
    package func migrateByEarlierNumbers(_ count: Int) async throws {
        try await script(
            """
            CREATE SCHEMA courier;
            CREATE TABLE courier.schema_migration (
                version integer PRIMARY KEY,
                name text NOT NULL,
                checksum bytea NOT NULL,
                applied_at timestamptz NOT NULL DEFAULT clock_timestamp()
            );
            INSERT INTO courier.schema_migration (version, name, checksum)
            SELECT n, CASE n WHEN 1 THEN '0001_tables' ELSE 'earlier_' || n END, sha256(n::text::bytea)
            FROM generate_series(1, \(count)) n;
            """
        )
    }

    package struct Missing: Error, CustomStringConvertible {
        package var description: String {
            "set COURIER_TEST_POSTGRES_URL to the URI of a superuser of PostgreSQL 15 or later (`make test` does)"
        }
    }

    /// The server for this task's tests, if it is not the common one.
    @TaskLocal package static var server: String?

    static func serverURL(database: String? = nil) throws -> String {
        let common = getenv("COURIER_TEST_POSTGRES_URL").map { String(cString: $0) }
        guard let url = server ?? common else { throw Missing() }
        guard let database else { return url }
        let parts = url.split(separator: "?", maxSplits: 1)
        guard let base = parts.first, let slash = base.lastIndex(of: "/") else { return url }
        return base[...slash] + database + (parts.count > 1 ? "?" + parts[1] : "")
    }
}

extension LedgerDatabase {
    /// Expires every lease of unpublished records.
    package func lapseOutbox() async throws {
        try await script(
            """
            UPDATE courier.outbox SET lease_until = clock_timestamp() - interval '1 s';
            UPDATE courier.outbox_pack SET lease_until = clock_timestamp() - interval '1 s';
            """
        )
    }
}
