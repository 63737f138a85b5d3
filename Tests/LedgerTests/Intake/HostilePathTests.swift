// SPDX-License-Identifier: Apache-2.0

import Administration
import Formats
import Ledger
import Logs
import PostgresClient
import TestSupport
import TestTools
import Testing
import Verification

/// Tests a database whose default search path contains hostile objects with the names that the ledger uses.
@Suite struct HostilePathTests {
    private static let objects = """
        CREATE SCHEMA evil;
        CREATE FUNCTION evil.lie() RETURNS boolean LANGUAGE plpgsql AS $$ BEGIN RAISE 'hostile'; END $$;
        CREATE FUNCTION evil.clock_timestamp() RETURNS timestamptz LANGUAGE sql AS 'SELECT evil.lie()::text::timestamptz';
        CREATE FUNCTION evil.statement_timestamp() RETURNS timestamptz LANGUAGE sql AS 'SELECT evil.clock_timestamp()';
        CREATE FUNCTION evil.set_config(text, text, boolean) RETURNS text LANGUAGE sql AS 'SELECT evil.lie()::text';
        CREATE FUNCTION evil.current_setting(text) RETURNS text LANGUAGE sql AS 'SELECT evil.lie()::text';
        CREATE FUNCTION evil.current_setting(text, boolean) RETURNS text LANGUAGE sql AS 'SELECT evil.lie()::text';
        CREATE FUNCTION evil.pg_backend_pid() RETURNS int4 LANGUAGE sql AS 'SELECT evil.lie()::int4';
        CREATE FUNCTION evil.pg_is_in_recovery() RETURNS boolean LANGUAGE sql AS 'SELECT evil.lie()';
        CREATE FUNCTION evil.to_regclass(text) RETURNS regclass LANGUAGE sql AS 'SELECT evil.lie()::text::regclass';
        CREATE FUNCTION evil.octet_length(bytea) RETURNS int4 LANGUAGE sql AS 'SELECT evil.lie()::int4';
        CREATE FUNCTION evil.unnest(uuid[]) RETURNS SETOF uuid LANGUAGE sql AS 'SELECT evil.lie()::text::uuid';
        CREATE FUNCTION evil.unnest(text[]) RETURNS SETOF text LANGUAGE sql AS 'SELECT evil.lie()::text';
        CREATE FUNCTION evil.lie(uuid, uuid) RETURNS boolean LANGUAGE sql AS 'SELECT evil.lie()';
        CREATE FUNCTION evil.lie(text, text) RETURNS boolean LANGUAGE sql AS 'SELECT evil.lie()';
        CREATE FUNCTION evil.lie(int4, int4) RETURNS boolean LANGUAGE sql AS 'SELECT evil.lie()';
        CREATE FUNCTION evil.lie(bytea, bytea) RETURNS boolean LANGUAGE sql AS 'SELECT evil.lie()';
        CREATE FUNCTION evil.lie(timestamptz, timestamptz) RETURNS boolean LANGUAGE sql AS 'SELECT evil.lie()';
        CREATE OPERATOR evil.= (LEFTARG = uuid, RIGHTARG = uuid, FUNCTION = evil.lie);
        CREATE OPERATOR evil.= (LEFTARG = text, RIGHTARG = text, FUNCTION = evil.lie);
        CREATE OPERATOR evil.= (LEFTARG = int4, RIGHTARG = int4, FUNCTION = evil.lie);
        CREATE OPERATOR evil.= (LEFTARG = bytea, RIGHTARG = bytea, FUNCTION = evil.lie);
        CREATE OPERATOR evil.< (LEFTARG = timestamptz, RIGHTARG = timestamptz, FUNCTION = evil.lie);
        CREATE OPERATOR evil.> (LEFTARG = timestamptz, RIGHTARG = timestamptz, FUNCTION = evil.lie);
        CREATE DOMAIN evil.uuid AS text CHECK (evil.lie());
        CREATE DOMAIN evil.int8 AS text CHECK (evil.lie());
        CREATE VIEW evil.pg_settings AS SELECT 'default_transaction_read_only' AS name, 'evil' AS source;
        CREATE TABLE evil.verification (id integer);
        CREATE TABLE evil.outbox (id integer);
        """

    /// The places that can set a search path: the database, the role and the connection URI.
    private static let paths = ["ALTER DATABASE", "ALTER ROLE", "options"]

    @Test(arguments: paths) func `nothing that stands before the server's own names changes what a session does`(
        path: String
    ) async throws {
        try await LedgerDatabase.empty { database in
            let name = DatabaseURL(database.url).name
            let hostile = "evil, public, pg_catalog"
            try await database.script(Self.objects)
            switch path {
            case "ALTER DATABASE": try await database.script("ALTER DATABASE \(name) SET search_path = \(hostile)")
            case "ALTER ROLE":
                try await database.script("ALTER ROLE CURRENT_USER IN DATABASE \(name) SET search_path = \(hostile)")
            default: break
            }
            let options = path == "options" ? "?options=-c%20search_path%3Devil,public,pg_catalog" : ""
            let configuration = PostgresConfiguration(
                url: database.url + options,
                settings: PostgresLedger.sessionSettings
            )
            try await ServerCheck.run(configuration)
            let pool = PostgresPool(configuration)
            try await doing {
                try await story(database, pool)
            } afterwards: {
                await pool.close()
            }
        }
    }

    /// Calls every method of a ledger once.
    private func story(_ database: LedgerDatabase, _ pool: PostgresPool) async throws {
        let migrator = Migrator(pool: pool)
        #expect(try await migrator.migrate() == Migration.all.map(\.name))
        try await migrator.check()
        try await ClockCheck.run(pool) { Timestamp.now }
        let worker = LedgerWorker(database.ledger(on: pool), policy: .counting)
        let claims = try await worker.claims(4)
        try await worker.ledger.release([try #require(claims.last)])
        let swept = try await worker.ledger.sweepSends(capacity: 10).value
        try await worker.publish(try await worker.settle(claims.dropLast() + swept, .sent))
        #expect(try await Verifier.test(pool).check(claims[0]).status == .approved)
        try await database.script(
            "UPDATE courier.verification SET expires_at = pg_catalog.now(), due_at = pg_catalog.now()"
        )
        #expect(try await worker.ledger.sweepExpired().outbox.count == 3)
        _ = try await worker.ledger.sweepReceipts()
        _ = try await worker.ledger.sweepOutbox()
        try await worker.ledger.maintain()
        #expect(try await database.ledger(on: pool).backlog().outbox > 0)
    }
}
