// SPDX-License-Identifier: Apache-2.0

import Administration
import Formats
import Foundation
import Ledger
import PostgresClient
import TestSupport
import TestTools
import Testing
import Verification

@Suite struct MigratorTests {
    private static let earlier = Array(Migration.all.prefix(3))

    @Test func `the migrations are the files of schemas, byte for byte and in order`() throws {
        let folder = Repository.file("schemas/postgres")
        let files = try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
        #expect(Migration.all.map { "\($0.name).sql" } == files)
        #expect(Migration.all.map(\.version) == Array(1...Int32(files.count)))
        for (migration, file) in zip(Migration.all, files) {
            #expect(try Data(contentsOf: folder.appending(path: file)) == Data(migration.sql.utf8), "\(file)")
        }
    }

    @Test func `migrating again applies nothing`() async throws {
        try await LedgerDatabase.empty { database in
            let migrator = Migrator(pool: database.pool)
            #expect(try await migrator.migrate() == Migration.all.map(\.name))
            #expect(try await migrator.migrate() == [])
            try await migrator.check()
            let versions = try await database.texts(
                "SELECT version::text FROM courier.schema_migration s ORDER BY s.version"
            )
            #expect(versions == Migration.all.map { String($0.version) })
        }
    }

    @Test(.timeLimit(.minutes(5))) func `of parallel migrators each migration is applied by one`() async throws {
        try await LedgerDatabase.empty(connections: 8) { database in
            let applied = try await inParallel(8) { _ in try await Migrator(pool: database.pool).migrate() }
            #expect(applied.flatMap(\.self).sorted() == Migration.all.map(\.name))
        }
    }

    @Test(.timeLimit(.minutes(5))) func `a run waits for the one before it, for longer than for anything else`()
        async throws
    {
        let limits = [(name: "lock_timeout", value: "50ms"), (name: "statement_timeout", value: "2s")]
        let question = Statement(
            "SELECT concat_ws(' ', current_setting('lock_timeout'), current_setting('statement_timeout'))"
        )
        try await LedgerDatabase.empty { database in
            _ = try await Migrator(pool: database.pool, migrations: Self.earlier).migrate()
            // The sleep outlasts both time limits of the waiting migrator.
            async let before: Void = database.play(
                """
                BEGIN;
                LOCK TABLE courier.schema_migration IN SHARE ROW EXCLUSIVE MODE;
                SELECT pg_advisory_lock(1);
                \(LedgerDatabase.untilSomebodyWaits)
                SELECT pg_sleep(2.5);
                COMMIT;
                SELECT pg_advisory_unlock_all();
                """
            )
            try await database.waitForHolders()
            try await database.withPool(connections: 1, settings: limits) { pool in
                #expect(
                    try await Migrator(pool: pool).migrate() == Migration.all.dropFirst(Self.earlier.count).map(\.name)
                )
                let after = try await pool.withSession { try $0.execute(question).onlyRow.text(0) }
                #expect(after == "50ms 2s")
            }
            try await before
        }
    }

    @Test func `a lock that the owner keeps is named after a bounded wait`() async throws {
        try await LedgerDatabase.empty { database in
            _ = try await Migrator(pool: database.pool, migrations: Self.earlier).migrate()
            let holder = PostgresConnection(PostgresConfiguration(url: database.url))
            // The sleep outlasts the migrator's wait for the lock.
            async let holding: Void = holder.run { session in
                try session.script(
                    """
                    BEGIN; LOCK TABLE courier.schema_migration IN SHARE MODE; SELECT pg_advisory_xact_lock(1);
                    SELECT pg_sleep(1); COMMIT;
                    """
                )
            }
            try await database.waitForHolders()
            let migrator = Migrator(pool: database.pool, lockWait: .milliseconds(100))
            let refusal = await #expect(throws: Migrator.Refusal.self) { try await migrator.migrate() }
            #expect(refusal == .locked(after: .milliseconds(100)))
            #expect(refusal?.description.contains("pg_locks") == true)
            try await holding
            await holder.close()
            #expect(try await migrator.migrate() == Migration.all.dropFirst(Self.earlier.count).map(\.name))
        }
    }

    @Test func `no lock that any login may take stops a migration`() async throws {
        try await LedgerDatabase.empty { database in
            let migrator = Migrator(pool: database.pool, lockWait: .milliseconds(100))
            _ = try await migrator.migrate()
            try await database.script("DELETE FROM courier.schema_migration WHERE version > 1")
            try await database.withLogin(granted: "courier_worker") { pool in
                try await pool.withSession { session in
                    for mode in ["ROW EXCLUSIVE", "SHARE", "SHARE ROW EXCLUSIVE", "ACCESS EXCLUSIVE"] {
                        let refusal = #expect(throws: PostgresError.self, "\(mode)") {
                            try session.script("BEGIN; LOCK TABLE courier.schema_migration IN \(mode) MODE")
                        }
                        #expect(refusal?.sqlState == SQLState(rawValue: "42501"), "\(mode)")
                        try session.script("ROLLBACK")
                    }
                    try session.script("BEGIN; LOCK TABLE courier.schema_migration IN ACCESS SHARE MODE")
                }
                #expect(try await migrator.migrate() == Migration.all.dropFirst().map(\.name))
            }
        }
    }

    @Test func `every file may be run by hand, also again and over live data`() async throws {
        try await LedgerDatabase.empty { database in
            _ = try await Migrator(pool: database.pool).migrate()
            let before = try await database.texts(Self.catalogue)
            let claim = try await LedgerWorker(database.ledger()).claim()
            for migration in Migration.all + Migration.all { try await database.script(migration.sql) }

            #expect(try await database.texts(Self.catalogue) == before)
            #expect(before.count > 20)
            #expect(try await LedgerWorker(database.ledger()).settle([claim], .sent).outbox.count == 1)
            try await Migrator(pool: database.pool).check()
        }
    }

    @Test func `maintenance by hand drops no day that workers keep, and every table has a replica identity`()
        async throws
    {
        try await LedgerDatabase.with { database in
            try await database.script(
                "CREATE TABLE courier.message_20200101 (LIKE courier.message INCLUDING ALL);"
                    + "ALTER TABLE courier.message ATTACH PARTITION courier.message_20200101 FOR VALUES FROM "
                    + "('00000000-0000-7000-8000-000000000000') TO ('00000000-0000-7000-8000-000000000001')"
            )
            for migration in Migration.all where migration.version == 8 { try await database.script(migration.sql) }
            #expect(try await database.count("SELECT count(*) FROM pg_class WHERE relname = 'message_20200101'") == 1)
            let bare = try await database.texts(
                """
                SELECT c.relname FROM pg_class c
                WHERE c.relnamespace = 'courier'::regnamespace AND c.relkind = 'r' AND c.relreplident = 'd'
                    AND NOT EXISTS (SELECT FROM pg_index i WHERE i.indrelid = c.oid AND i.indisprimary)
                """
            )
            #expect(bare == [])
        }
    }

    @Test func `a database with a request is told from one without, and from one without tables`() async throws {
        try await LedgerDatabase.empty { database in
            let migrator = Migrator(pool: database.pool)
            #expect(try await !migrator.hasRows())
            _ = try await migrator.migrate()
            #expect(try await !migrator.hasRows())
            _ = try await LedgerWorker(database.ledger()).claim()
            #expect(try await migrator.hasRows())
        }
    }

    @Test func `an applied migration that has changed is refused`() async throws {
        try await LedgerDatabase.with { database in
            try await database.script("UPDATE courier.schema_migration SET checksum = '\\x00' WHERE version = 2")
            let refusal = Migrator.Refusal.changed(name: "0002_verifications")
            await #expect(throws: refusal) { try await Migrator(pool: database.pool).migrate() }
            await #expect(throws: refusal) { try await Migrator(pool: database.pool).check() }
        }
    }

    @Test func `a database of a newer program is refused`() async throws {
        try await LedgerDatabase.with { database in
            try await database.script("INSERT INTO courier.schema_migration VALUES (9999, 'future', '\\x00')")
            let known = Migration.all.map(\.version).max() ?? 0
            let refusal = Migrator.Refusal.newer(version: 9999, known: known)
            await #expect(throws: refusal) { try await Migrator(pool: database.pool).migrate() }
            await #expect(throws: refusal) { try await Migrator(pool: database.pool).check() }
        }
    }

    @Test(arguments: [1, 22])
    func `a database with the tables of a version before the first release is refused and left alone`(
        count: Int
    ) async throws {
        try await LedgerDatabase.empty { database in
            try await database.migrateByEarlierNumbers(count)
            let refusal = Migrator.Refusal.foreign(name: "0001_tables")
            await #expect(throws: refusal) { try await Migrator(pool: database.pool).migrate() }
            await #expect(throws: refusal) { try await Migrator(pool: database.pool).check() }
            #expect(try await database.count("SELECT count(*) FROM courier.schema_migration") == Int64(count))
            #expect(try await database.text("SELECT to_regclass('courier.request')::text") == nil)
            // The command that the message suggests solves the problem.
            #expect(refusal.description.contains("(DROP SCHEMA courier CASCADE)"))
            #expect(!refusal.description.contains("\n"))
            try await database.script("DROP SCHEMA courier CASCADE")
            #expect(try await Migrator(pool: database.pool).migrate() == Migration.all.map(\.name))
        }
    }

    @Test func `a database that is behind is told to run migrate, an empty one too`() async throws {
        try await LedgerDatabase.empty { database in
            let known = Migration.all.map(\.version).max() ?? 0
            let migrator = Migrator(pool: database.pool)
            let refusal = Migrator.Refusal.behind(version: 0, known: known)
            #expect(refusal.description.contains("code-courier migrate"))
            await #expect(throws: refusal) { try await migrator.check() }
            _ = try await migrator.migrate()
            try await database.script("DELETE FROM courier.schema_migration WHERE version >= 2")
            await #expect(throws: Migrator.Refusal.behind(version: 1, known: known)) { try await migrator.check() }
        }
    }

    @Test func `a migration that fails leaves nothing behind and can be done again`() async throws {
        try await LedgerDatabase.empty { database in
            // A view with a table's name makes the second half of a migration file fail.
            let view = "CREATE VIEW courier.message AS SELECT 1 AS digest"
            try await database.script("CREATE SCHEMA courier; \(view)")
            let failure = await #expect(throws: Migrator.Failure.self) {
                try await Migrator(pool: database.pool).migrate()
            }
            #expect(failure?.name == "0002_verifications")
            #expect(
                failure?.description
                    == "migration 0002_verifications failed: PostgreSQL server 42809 (wrong_object_type)"
            )
            #expect(try await database.text("SELECT to_regclass('courier.verification')::text") == nil)
            try await database.script("DROP VIEW courier.message")
            #expect(try await Migrator(pool: database.pool).migrate() == Migration.all.dropFirst().map(\.name))
        }
    }

    /// Lists every relation, column, constraint, trigger and function of the schema, with its settings and privileges.
    private static let catalogue: StaticString = """
        SELECT concat_ws(' ', relkind, relname, relacl, reloptions)
        FROM pg_class WHERE relnamespace = 'courier'::regnamespace
        UNION ALL
        SELECT concat_ws(' ', attrelid::regclass, attname, attnum, atttypid::regtype, attnotnull, attstattarget)
        FROM pg_attribute JOIN pg_class c ON c.oid = attrelid
        WHERE c.relnamespace = 'courier'::regnamespace AND attnum > 0
        UNION ALL
        SELECT concat_ws(' ', conrelid::regclass, conname, pg_get_constraintdef(oid))
        FROM pg_constraint WHERE connamespace = 'courier'::regnamespace
        UNION ALL
        SELECT pg_get_triggerdef(oid) FROM pg_trigger WHERE NOT tgisinternal
        UNION ALL
        SELECT concat_ws(' ', proname, proacl, proconfig, prosecdef, md5(prosrc))
        FROM pg_proc WHERE pronamespace = 'courier'::regnamespace
        ORDER BY 1
        """
}
