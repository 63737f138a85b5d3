// SPDX-License-Identifier: Apache-2.0

package import PostgresClient

/// Applies the migrations to a database, one transaction each, under an advisory lock.
package struct Migrator: Sendable {
    let pool: PostgresPool
    private let migrations: [Migration]
    let place: ShardPlace
    private let lockWait: Duration

    /// A migrator that waits so long for one that migrates already.
    package init(
        pool: PostgresPool,
        place: ShardPlace = .only,
        migrations: [Migration] = Migration.all,
        lockWait: Duration = .seconds(120)
    ) {
        self.pool = pool
        self.lockWait = lockWait
        self.place = place
        self.migrations = migrations
    }

    /// Why a database cannot be migrated, or not be used.
    package enum Refusal: Error, Equatable, CustomStringConvertible {
        case changed(name: String)
        case newer(version: Int32, known: Int32)
        case behind(version: Int32, known: Int32)

        /// Another session holds the lock of migrations: any login may, for as long as it likes.
        case locked(after: Duration)

        /// The list of databases is not the one that this database was migrated in; nil when it was migrated in none.
        case misplaced(ShardPlace?, wanted: ShardPlace)

        package var description: String {
            switch self {
            case .changed(let name):
                "migration \(name) was changed after it had been applied: restore the file, and add a new migration"
            case .newer(let version, let known):
                "the database is at migration \(version), this program knows \(known): run a newer program"
            case .behind(let version, let known):
                "the database is at migration \(version), this program needs \(known): run `code-courier migrate`"
            case .locked(let wait):
                """
                another session has held the lock of migrations for \(wait.components.seconds) s: wait for it, or end it \
                (SELECT pid FROM pg_locks WHERE locktype = 'advisory' AND objid = 4711001 AND granted)
                """
            case .misplaced(nil, _):
                "the database does not know which shard it is: run `code-courier migrate`"
            case .misplaced(let place?, let wanted):
                "the database is \(place), and is listed as \(wanted): restore the list, whose order and length are fixed"
            }
        }
    }

    /// A migration that the server refused, by its number and name, and the server's reason.
    package struct Failure: Error, Equatable, CustomStringConvertible {
        package let name: String
        package let error: PostgresError

        package var description: String { "migration \(name) failed: \(error)" }
    }

    /// Applies what is missing and returns its names.
    package func migrate() async throws -> [String] {
        let (migrations, place, lockWait) = (migrations, place, lockWait)
        return try await pool.withSession { session in
            try Self.lock(session, atMost: lockWait)
            defer { try? session.script("SELECT pg_advisory_unlock(4711001)") }
            try session.script(Self.bookkeeping)
            let missing = try Self.missing(migrations, session)
            try Self.checkPlace(place, session)
            for migration in missing { try Self.apply(migration, session) }
            try Self.take(place, session)
            return missing.map(\.name)
        }
    }

    private static func apply(_ migration: Migration, _ session: Session) throws(Failure) {
        do throws(PostgresError) {
            try session.script("BEGIN; SET LOCAL lock_timeout = '5s'; SET LOCAL statement_timeout = '60s';")
            try session.script(migration.sql)
            _ = try session.execute(Self.note(migration))
            try session.script("COMMIT")
        } catch {
            // The first failure is the one to name; a session that cannot even roll back is not lent again.
            try? session.script("ROLLBACK")
            throw Failure(name: migration.name, error: error)
        }
    }

    /// Throws a refusal unless the database has exactly the migrations that this program knows.
    package func check() async throws {
        let (migrations, place) = (migrations, place)
        try await pool.withSession { session in
            let exists = try session.execute(
                Statement("SELECT to_regclass('courier.schema_migration') IS NOT NULL")
            )
            var isThere = false
            for row in exists { isThere = try row.bool(0) }
            let missing = isThere ? try Self.missing(migrations, session) : migrations
            if let first = missing.first {
                throw Refusal.behind(version: first.version - 1, known: migrations.last?.version ?? 0)
            }
            guard try Self.place(session) == place else {
                throw Refusal.misplaced(try Self.place(session), wanted: place)
            }
        }
    }

    /// The lock comes first: two sessions that create one schema at a time get in each other's way.
    ///
    /// It is waited for longer than for anything else, since its holder may migrate for minutes; the session's limits come
    /// back after it.
    private static func lock(_ session: Session, atMost wait: Duration) throws {
        let milliseconds = max(1, wait / .milliseconds(1))
        do throws(PostgresError) {
            try session.script(
                """
                BEGIN; SET LOCAL lock_timeout = \(Int64(milliseconds)); SET LOCAL statement_timeout = 0;
                SELECT pg_advisory_lock(4711001); COMMIT;
                """
            )
        } catch {
            guard error.sqlState == .lockNotAvailable else { throw error }
            throw Refusal.locked(after: wait)
        }
    }

    private static let bookkeeping = """
        CREATE SCHEMA IF NOT EXISTS courier;
        CREATE TABLE IF NOT EXISTS courier.schema_migration (
            version integer PRIMARY KEY,
            name text NOT NULL,
            checksum bytea NOT NULL,
            applied_at timestamptz NOT NULL DEFAULT clock_timestamp()
        );
        """

    private static func missing(_ migrations: [Migration], _ session: Session) throws -> [Migration] {
        let rows = try session.execute(
            Statement("SELECT version, checksum FROM courier.schema_migration ORDER BY version")
        )
        var applied: [Int32: [UInt8]] = [:]
        for row in rows {
            applied[try row.int32(0)] = try row.bytes(1)
        }
        let known = migrations.last?.version ?? 0
        if let newest = applied.keys.max(), newest > known { throw Refusal.newer(version: newest, known: known) }
        for migration in migrations {
            if let checksum = applied[migration.version], checksum != migration.checksum {
                throw Refusal.changed(name: migration.name)
            }
        }
        return migrations.filter { applied[$0.version] == nil }
    }

    private static func note(_ migration: Migration) -> Statement {
        Statement(
            "INSERT INTO courier.schema_migration (version, name, checksum) VALUES ($1, $2, $3)",
            [.int32(migration.version), .text(migration.name), .bytes(migration.checksum)]
        )
    }
}
