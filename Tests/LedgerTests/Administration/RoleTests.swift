// SPDX-License-Identifier: Apache-2.0

import Administration
import Ledger
import PostgresClient
import TestSupport
import Testing
import Verification

@Suite struct RoleTests {
    @Test func `a verifier may execute its two functions and no other, and read or change no table`() async throws {
        try await LedgerDatabase.with { database in
            let tables = try await database.tables()
            #expect(tables.count >= 6)
            try await database.withLogin(granted: "courier_verifier") { pool in
                let touches = tables.flatMap { ["SELECT 1 FROM \($0)", "DELETE FROM \($0)", "TRUNCATE \($0)"] }
                #expect(await pool.notRefused(touches + ["CREATE TABLE courier.stray ()"]) == [])
                let functions = try await pool.executableFunctions()
                #expect(functions == ["check_code", "hash_key_of"])
            }
        }
    }

    @Test func `a monitor may count what is due, and nothing else`() async throws {
        try await LedgerDatabase.with { database in
            let tables = try await database.tables()
            let claims = try await LedgerWorker(database.ledger()).claims(3)
            try await database.withLogin(granted: "courier_monitor") { pool in
                let touches = tables.flatMap { ["SELECT 1 FROM \($0)", "DELETE FROM \($0)"] }
                #expect(await pool.notRefused(touches + ["CREATE TABLE courier.stray ()"]) == [])
                #expect(try await pool.executableFunctions() == ["due_sends"])
                #expect(try await pool.dueSends() == 0, "they are claimed")
                try await database.script(
                    "UPDATE courier.parcel SET lease_until = clock_timestamp() - interval '1 second'"
                )
                #expect(try await pool.dueSends() == Int64(claims.count))
            }
        }
    }

    @Test func `a worker's login can run the whole pipeline`() async throws {
        try await LedgerDatabase.with { database in
            try await database.withLogin(
                granted: "courier_worker",
                settings: PostgresLedger.sessionSettings
            ) { pool in
                try await Migrator(pool: pool).check()
                let worker = LedgerWorker(database.ledger(on: pool))
                let ledger = worker.ledger
                let claims = try await worker.claims(4)
                let now = try await worker.now()
                let more = try await worker.intake(.people(1, round: 1, at: now) + [.raw("{", offset: 9, at: now)])
                #expect(more.outbox.count == 2)
                try await ledger.release([try #require(claims.last)])
                let swept = try await ledger.sweepSends(capacity: 10).value
                #expect(swept.count == 1)
                try await worker.publish(try await worker.settle(claims.dropLast() + swept, .sent))
                try await worker.publish(more)
                #expect(try await ledger.sweepOutbox().count == 2)
                try await database.script("UPDATE courier.verification SET expires_at = now(), due_at = now()")
                #expect(try await ledger.sweepExpired().outbox.count == 3)
                try await ledger.maintain()
            }
        }
    }

    @Test func `a worker's login has no DDL, no guesses, and no deletion of what was decided`() async throws {
        try await LedgerDatabase.with { database in
            let claim = try await LedgerWorker(database.ledger()).claim()
            try await database.withLogin(granted: "courier_worker") { pool in
                let refused = [
                    "CREATE TABLE courier.stray ()", "CREATE TABLE public.stray ()", "CREATE SCHEMA stray",
                    "DROP TABLE courier.outbox", "TRUNCATE courier.outbox",
                    "ALTER TABLE courier.verification ADD stray int",
                    "CREATE INDEX ON courier.send (number)", "DELETE FROM courier.verification",
                    "DELETE FROM courier.send", "DELETE FROM courier.request", "DELETE FROM courier.person",
                    "UPDATE courier.schema_migration SET version = 0", "DELETE FROM courier.schema_migration",
                    "SELECT courier.check_code('\(claim.reference.verificationID)', '\\x00')",
                    "SELECT courier.hash_key_of('\(claim.reference.verificationID)')",
                ]
                #expect(await pool.notRefused(refused) == [])
            }
            #expect(try await database.text("SELECT checks_used::text FROM courier.verification") == "0")
        }
    }

    @Test func `nobody else may execute a function of the schema that runs with its owner's rights`() async throws {
        try await LedgerDatabase.with { database in
            let open = try await database.texts(
                """
                SELECT p.proname::text
                FROM pg_proc p
                CROSS JOIN aclexplode(coalesce(p.proacl, acldefault('f', p.proowner))) a
                WHERE p.pronamespace = 'courier'::regnamespace AND p.prosecdef AND a.grantee = 0
                """
            )
            #expect(open == [])
        }
    }
}

extension LedgerDatabase {
    /// Every table of the schema, partitions included.
    fileprivate func tables() async throws -> [String] {
        try await texts(
            """
            SELECT 'courier.' || relname FROM pg_class
            WHERE relnamespace = 'courier'::regnamespace AND relkind IN ('r', 'p')
            """
        ).compactMap(\.self)
    }
}

extension PostgresPool {
    /// The commands that the server does not refuse for lack of a privilege.
    func notRefused(_ commands: [String]) async -> [String] {
        var others: [String] = []
        for command in commands {
            do {
                // The failing second statement rolls back a command that was not refused.
                try await withSession { try $0.script("\(command); SELECT 1 / 0") }
            } catch let error as PostgresError where error.sqlState == SQLState(rawValue: "42501") {
                continue
            } catch {}
            others.append(command)
        }
        return others
    }

    fileprivate func dueSends() async throws -> Int64 {
        try await withSession { try $0.execute(Statement("SELECT courier.due_sends()")).map { try $0.int64(0) } }[0]
    }

    /// The schema's functions that this login may execute.
    fileprivate func executableFunctions() async throws -> [String] {
        let statement = Statement(
            """
            SELECT proname::text FROM pg_proc
            WHERE pronamespace = 'courier'::regnamespace AND has_function_privilege(current_user, oid, 'EXECUTE')
            ORDER BY proname
            """
        )
        return try await withSession { try $0.execute(statement).map { try $0.text(0) } }
    }
}
