// SPDX-License-Identifier: Apache-2.0

import Crypto
import Formats
package import PostgresClient

/// Applies the migrations to a database, one transaction each, under a lock on their table.
package struct Migrator: Sendable {
    let pool: PostgresPool
    private let migrations: [Migration]
    private let lockWait: Duration

    /// Creates a migrator that waits up to `lockWait` for another one.
    package init(
        pool: PostgresPool,
        migrations: [Migration] = Migration.all,
        lockWait: Duration = .seconds(120)
    ) {
        self.pool = pool
        self.lockWait = lockWait
        self.migrations = migrations
    }

    /// The reason why a database cannot be migrated or used.
    package enum Refusal: Error, Equatable, CustomStringConvertible {
        case changed(name: String)
        case newer(version: Int32, known: Int32)
        case behind(version: Int32, known: Int32)

        /// A migration was applied with a known number but another name, so the tables differ from ours.
        case foreign(name: String)

        /// Another session, the owner's or a superuser's, holds the lock on the table of migrations.
        case locked(after: Duration)

        /// Roles that a migration creates do not exist, and the login may create none.
        case roles(missing: [String])

        package var description: String {
            switch self {
            case .changed(let name):
                "migration \(name) was changed after it had been applied: restore the file, and add a new migration"
            case .newer(let version, let known):
                "the database is at migration \(version), this program knows \(known): run a newer program"
            case .behind(let version, let known):
                "the database is at migration \(version), this program needs \(known): run `code-courier migrate`"
            case .foreign(let name):
                """
                the database has the tables of a version before the first release (migration \(name)): make a new \
                database, or drop the tables with all their rows (DROP SCHEMA courier CASCADE), and run \
                `code-courier migrate` again
                """
            case .locked(let wait):
                """
                another session has held the lock of migrations for \(wait.components.seconds) s: wait for it, or end it \
                (SELECT pid FROM pg_locks WHERE relation = 'courier.schema_migration'::regclass AND granted)
                """
            case .roles(let names):
                """
                the login may not create the missing \(names.count == 1 ? "role" : "roles") \
                \(names.joined(separator: ", ")): have an administrator run \
                \(names.map { "CREATE ROLE \($0) NOLOGIN;" }.joined(separator: " ")) and migrate again
                """
            }
        }
    }

    /// A migration that the server rejected, with its name and the server's reason.
    package struct Failure: Error, Equatable, CustomStringConvertible {
        package let name: String
        package let error: PostgresError

        package var description: String { "migration \(name) failed: \(error)" }
    }

    /// Applies the missing migrations and returns their names.
    package func migrate() async throws -> [String] {
        let (migrations, lockWait) = (migrations, lockWait)
        return try await pool.withSession { session in
            try Self.makeTable(session)
            _ = try Self.missing(migrations, session)
            var applied: [String] = []
            while let next = try Self.applyNext(of: migrations, session, lockWait) { applied.append(next.name) }
            return applied
        }
    }

    /// Applies only the first missing migration, if any: a concurrent migrator waits, and then finds it applied.
    private static func applyNext(
        of migrations: [Migration],
        _ session: Session,
        _ lockWait: Duration
    ) throws -> Migration? {
        do {
            try lock(session, atMost: lockWait)
            guard let next = try missing(migrations, session).first else {
                try session.script("COMMIT")
                return nil
            }
            try checkRoles(next.roles, session)
            try apply(next, session)
            return next
        } catch {
            // The original error matters; a session whose rollback fails is not returned to the pool.
            try? session.script("ROLLBACK")
            throw error
        }
    }

    private static func apply(_ migration: Migration, _ session: Session) throws(Failure) {
        do throws(PostgresError) {
            try session.script("SET LOCAL lock_timeout = '5s'; SET LOCAL statement_timeout = '60s';")
            try session.script(migration.sql)
            _ = try session.execute(Self.note(migration))
            try session.script("COMMIT")
        } catch {
            throw Failure(name: migration.name, error: error)
        }
    }

    /// Throws a refusal unless the applied migrations are exactly those of this program.
    package func check() async throws {
        if let first = try await pending().first {
            throw Refusal.behind(version: first.version - 1, known: migrations.last?.version ?? 0)
        }
    }

    /// Returns the migrations that are not applied yet, in their order, and changes nothing.
    ///
    /// Throws a refusal when the applied ones are not ours.
    package func pending() async throws -> [Migration] {
        let migrations = migrations
        return try await pool.withSession { session in
            try session.hasTable("courier.schema_migration") ? Self.missing(migrations, session) : migrations
        }
    }

    /// Begins a transaction and locks the table of migrations, which only its owner can lock.
    ///
    /// The lock timeout is longer than for other locks, since the holder may migrate for minutes.
    private static func lock(_ session: Session, atMost wait: Duration) throws {
        let milliseconds = Int64(max(1, wait / .milliseconds(1)))
        do throws(PostgresError) {
            try session.script(
                """
                BEGIN; SET LOCAL lock_timeout = \(milliseconds); SET LOCAL statement_timeout = 0;
                LOCK TABLE courier.schema_migration IN SHARE ROW EXCLUSIVE MODE;
                """
            )
        } catch {
            guard error.sqlState == .lockNotAvailable else { throw error }
            throw Refusal.locked(after: wait)
        }
    }

    /// Creates the table of migrations if it is missing; of several concurrent migrators one succeeds.
    private static func makeTable(_ session: Session) throws {
        while try !session.hasTable("courier.schema_migration") {
            do throws(PostgresError) {
                try session.script(
                    """
                    CREATE SCHEMA IF NOT EXISTS courier;
                    CREATE TABLE IF NOT EXISTS courier.schema_migration (
                        version integer PRIMARY KEY,
                        name text NOT NULL,
                        checksum bytea NOT NULL,
                        applied_at timestamptz NOT NULL DEFAULT clock_timestamp()
                    );
                    """
                )
            } catch {
                guard error.sqlState == .uniqueViolation else { throw error }
            }
        }
    }

    /// Returns the migrations that are not applied yet; throws a refusal when the applied ones are not ours.
    ///
    /// Names are compared before numbers: a foreign numbering with more migrations is no newer version of ours.
    private static func missing(_ migrations: [Migration], _ session: Session) throws -> [Migration] {
        let rows = try session.execute(
            Statement("SELECT version, name, checksum FROM courier.schema_migration ORDER BY version")
        )
        var applied: [Int32: (name: String, checksum: [UInt8])] = [:]
        for row in rows {
            applied[try row.int32(0)] = (name: try row.text(1), checksum: try row.bytes(2))
        }
        for migration in migrations {
            if let name = applied[migration.version]?.name, name != migration.name { throw Refusal.foreign(name: name) }
        }
        let known = migrations.last?.version ?? 0
        if let newest = applied.keys.max(), newest > known { throw Refusal.newer(version: newest, known: known) }
        for migration in migrations {
            if let checksum = applied[migration.version]?.checksum, checksum != migration.checksum {
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

extension Migrator {
    /// Throws a refusal that names the missing roles, unless the login may create them.
    ///
    /// Existing roles are used as they are: an owner without the right to create roles depends on that.
    static func checkRoles(_ roles: [String], _ session: Session) throws {
        if roles.isEmpty { return }
        let rows = try session.execute(
            Statement(
                """
                SELECT wanted.name
                FROM unnest($1::text[]) WITH ORDINALITY AS wanted(name, place)
                WHERE NOT EXISTS (SELECT FROM pg_roles r WHERE r.rolname = wanted.name)
                  AND NOT (SELECT r.rolsuper OR r.rolcreaterole FROM pg_roles r WHERE r.rolname = current_user)
                ORDER BY wanted.place
                """,
                [.texts(roles)]
            )
        )
        let missing = try rows.map { try $0.text(0) }
        if !missing.isEmpty { throw Refusal.roles(missing: missing) }
    }
}

extension Session {
    /// True when the database has a table of this qualified name.
    fileprivate func hasTable(_ name: String) throws(PostgresError) -> Bool {
        try execute(Statement("SELECT to_regclass($1) IS NOT NULL", [.text(name)])).onlyRow.bool(0)
    }
}

extension Migrator {
    /// True when the database holds a request, a verification or an event; false when it has no tables yet.
    package func hasRows() async throws -> Bool {
        try await pool.withSession { session in
            guard try session.hasTable("courier.request") else { return false }
            let rows = try session.execute(
                Statement(
                    """
                    SELECT EXISTS (SELECT FROM courier.request) OR EXISTS (SELECT FROM courier.verification)
                        OR EXISTS (SELECT FROM courier.outbox) OR EXISTS (SELECT FROM courier.outbox_pack)
                    """
                )
            )
            return try rows.onlyRow.bool(0)
        }
    }
}

/// One numbered SQL file of `schemas/postgres`, embedded in the program.
package struct Migration: Sendable {
    package let version: Int32
    package let name: String
    package let sql: String

    /// The file's SHA-256, by which a changed file of an applied migration is detected.
    package let checksum: [UInt8]

    /// The roles that the file creates if they do not exist.
    package let roles: [String]

    private init(name: String, sql: String) {
        guard let version = Int32(name.prefix { $0 != "_" }) else { preconditionFailure("\(name) has no number") }
        self.version = version
        self.name = name
        self.sql = sql
        checksum = Array(SHA256.hash(data: Array(sql.utf8)))
        roles = version == 1 ? ["courier_worker", "courier_verifier", "courier_monitor", "courier_operator"] : []
    }

    package static let all = Embedded.all.sorted { $0.name < $1.name }.map { file in
        Migration(name: String(file.name.prefix { $0 != "." }), sql: file.text)
    }
}
