// SPDX-License-Identifier: Apache-2.0

import Ledger
import PostgresClient
import TestSupport
import Testing

/// Checks the complete list of privileges: a table or function that is missing here fails the test.
@Suite struct PrivilegeTests {
    /// The roles of the migrations, and a login without any role.
    private static let roles = ["courier_worker", "courier_verifier", "courier_operator", "courier_monitor", "nobody"]

    /// The privileges that each table's owner grants, by role.
    ///
    /// Partitions grant nothing themselves, and `columns` has what is granted on columns alone.
    private static let tables: [String: String] = [
        "schema_migration": "worker: r",
        "request": "worker: raw",
        "person": "worker: raw",
        "verification": "worker: raw",
        "send": "worker: raw",
        "outbox": "worker: rawd",
        "message": "worker: ra",
        "outbox_pack": "worker: rawd",
        "parcel": "worker: rawd",
        "limit_window": "worker: rawd",
        "tenant_admission": "worker: rawd",
        "tenant_gate": "worker: rawd",
        "provider_rate": "worker: raw",
        "receipt": "worker: rawd",
        "cell": "worker: ra",
        "maintenance": "",
        "key_check": "worker: ra",
        "day_table": "",
        "conversion_reader": "worker: rw; operator: r",
        "conversion": "worker: raw; operator: r",
        "route_share": "worker: rad; operator: r",
        "brake_block": "worker: raw; operator: r",
        "brake_override": "worker: r; operator: rawd",
        "brake_change": "worker: r",
        "event_setting": "worker: rw",
        "budget": "worker: raw; operator: r",
        "budget_spend": "worker: rawd; operator: r",
        "budget_raise": "worker: r; operator: rawd",
    ]

    /// The columns that an operator may update, enough to lift a block, and those of a worker: the count of a launch.
    private static let columns = [
        "column brake_block changes_at", "column brake_block state", "column brake_override matured",
        "column brake_override matured_to", "column brake_override refused", "column brake_override used",
        "column conversion_reader judged_to",
    ]

    /// The roles that may execute each function; a function may run with its owner's rights.
    private static let functions: [String: String] = [
        "uuid_floor": "",
        "request_key": "",
        "limit_key": "",
        "delete_persons": "",
        "maintain_days": "worker, definer",
        "take_partitions": "worker, definer",
        "maintenance_age": "worker, definer",
        "make_partition": "",
        "forget_slices": "worker, definer",
        "sample_less": "",
        "is_due": "",
        "oldest_kept": "",
        "check_code": "verifier, definer",
        "write_end": "",
        "hash_key_of": "verifier, definer",
        "lock_tenants": "worker",
        "uncommitted_keys": "worker",
        "admit_tenants": "worker",
        "tenant_usage": "worker",
        "timeline": "worker",
        "count_admission_on": "",
        "erase_recipient": "operator, definer",
        "other_keys": "operator, definer",
        "key_use": "operator, worker, definer",
        "show_request": "operator, definer",
        "show_recipient": "operator, definer",
        "show_verification": "operator, definer",
        "show_sends": "operator, definer",
        "due_sends": "monitor, definer",
        "budget_window": "operator, worker",
        "lease_budget": "worker",
        "budget_month_end": "operator, worker",
        "budget_forecast": "operator, worker",
        "budget_profile": "operator, worker",
        "budget_history": "operator, definer",
        "uuid_time": "",
        "raise_brake_version": "definer",
        "conversion_outcome": "worker",
        "brake_history": "operator, definer",
        "sign_brake_order": "",
        "sign_budget_raise": "",
        "is_time_zone": "operator, worker",
    ]

    @Test func `what each role may do with each table is what is listed, by trying all of it`() async throws {
        try await LedgerDatabase.with { database in
            let tables = try await database.texts(
                """
                SELECT c.relname::text FROM pg_class c
                WHERE c.relnamespace = 'courier'::regnamespace AND c.relkind IN ('r', 'p', 'f')
                ORDER BY 1
                """
            ).compactMap(\.self)
            let views = try await database.texts(
                """
                SELECT c.relname::text FROM pg_class c
                WHERE c.relnamespace = 'courier'::regnamespace AND c.relkind IN ('v', 'm') AND c.relacl IS NOT NULL
                """
            )
            #expect(views.isEmpty, "views are their owner's")
            let parents = tables.filter { !$0.isPartition }
            #expect(Set(parents) == Set(Self.tables.keys))
            for role in Self.roles {
                try await database.withLogin(ofRole: role) { pool in
                    for table in tables {
                        let listed = table.isPartition ? nil : Self.tables[table]
                        let grants = listed?.split(separator: "; ").map { $0.split(separator: ": ").map(String.init) }
                        let expected = grants?.first { $0.first == role.short }?.last ?? ""
                        let allowed = try await pool.privileges(on: table)
                        #expect(allowed == expected, "\(role) on \(table)")
                    }
                }
            }
        }
    }

    @Test func `what each role may execute is what is listed, by trying all of it`() async throws {
        try await LedgerDatabase.with { database in
            let functions = try await database.texts(
                """
                SELECT concat_ws(';', 'courier.' || p.proname || '(' || oidvectortypes(p.proargtypes) || ')', p.proname, p.prosecdef)
                FROM pg_proc p WHERE p.pronamespace = 'courier'::regnamespace ORDER BY 1
                """
            ).compactMap { $0?.split(separator: ";").map(String.init) }
            #expect(Set(functions.map { $0[1] }) == Set(Self.functions.keys))
            #expect(functions.count == Self.functions.count)
            for role in Self.roles {
                try await database.withLogin(ofRole: role) { pool in
                    for function in functions {
                        let words = Self.functions[function[1]]?.split(separator: ", ").map(String.init) ?? []
                        #expect(words.contains("definer") == (function[2] == "t"), "\(function[0])")
                        let mayExecute = try await pool.mayExecute(function[0])
                        #expect(mayExecute == words.contains(role.short), "\(role) on \(function[0])")
                    }
                }
            }
        }
    }

    @Test func `nobody may make anything in the schema, and everybody has nothing in it`() async throws {
        try await LedgerDatabase.with { database in
            for role in Self.roles {
                try await database.withLogin(ofRole: role) { pool in
                    let made = await pool.notRefused([
                        "CREATE TABLE courier.stray ()", "CREATE SCHEMA stray",
                        "CREATE FUNCTION courier.stray() RETURNS int LANGUAGE sql AS 'SELECT 1'",
                        "CREATE VIEW courier.stray AS SELECT 1",
                    ])
                    #expect(made == [], "\(role)")
                }
            }
            let open = try await database.texts(
                """
                SELECT 'relation ' || c.relname FROM pg_class c CROSS JOIN aclexplode(c.relacl) a
                WHERE c.relnamespace = 'courier'::regnamespace AND a.grantee = 0
                UNION ALL
                SELECT concat_ws(' ', 'column', c.relname, t.attname) FROM pg_attribute t JOIN pg_class c ON c.oid = t.attrelid
                WHERE c.relnamespace = 'courier'::regnamespace AND t.attacl IS NOT NULL
                UNION ALL
                SELECT 'function ' || p.proname
                FROM pg_proc p CROSS JOIN aclexplode(coalesce(p.proacl, acldefault('f', p.proowner))) a
                WHERE p.pronamespace = 'courier'::regnamespace AND a.grantee = 0
                UNION ALL
                SELECT 'schema' FROM pg_namespace n CROSS JOIN aclexplode(n.nspacl) a
                WHERE n.nspname = 'courier' AND a.grantee = 0
                UNION ALL
                SELECT 'role ' || r.rolname FROM pg_roles r
                WHERE r.rolname LIKE 'courier\\_%' AND NOT r.rolname LIKE 'courier\\_login\\_%'
                  AND NOT r.rolname LIKE 'courier\\_test\\_%'
                  AND (r.rolcanlogin OR r.rolsuper OR r.rolcreaterole OR r.rolcreatedb OR r.rolbypassrls)
                ORDER BY 1
                """
            )
            #expect(open == Self.columns)
        }
    }

    @Test func `a function that runs with its owner's rights looks nothing up where a caller can put it`()
        async throws
    {
        try await LedgerDatabase.with { database in
            let loose = try await database.texts(
                """
                SELECT p.proname::text FROM pg_proc p
                WHERE p.pronamespace = 'courier'::regnamespace
                  -- Or that may be called by one that does.
                  AND (p.prosecdef OR array_to_string(p.proconfig, ';') LIKE '%search_path%')
                  AND NOT coalesce(p.proconfig, '{}') && ARRAY['search_path=pg_catalog, pg_temp']
                """
            )
            #expect(loose == [])
            let claim = try await LedgerWorker(database.ledger()).claim()
            // The caller can put a temporary schema before `pg_catalog`, with objects named like the function's own.
            let decoys = """
                BEGIN;
                CREATE TEMP TABLE verification (id uuid, state text);
                CREATE FUNCTION pg_temp.clock_timestamp() RETURNS timestamptz LANGUAGE sql
                    AS 'SELECT ''-infinity''::timestamptz';
                CREATE FUNCTION pg_temp.sha256(bytea) RETURNS bytea LANGUAGE sql AS 'SELECT ''same''::bytea';
                SET LOCAL search_path = pg_temp, pg_catalog;
                """
            try await database.withLogin(granted: "courier_verifier", connections: 1) { pool in
                let guess = Statement(
                    "SELECT status FROM courier.check_code($1, 'wrong'::bytea)",
                    [.verification(of: claim)]
                )
                let status = try await pool.withSession { session in
                    try session.script(decoys)
                    defer { try? session.script("ROLLBACK") }
                    return try session.execute(guess).onlyRow.text(0)
                }
                #expect(status == "incorrect")
            }
        }
    }
}

extension String {
    /// `verifier` for `courier_verifier`.
    fileprivate var short: String { split(separator: "_").last.map(String.init) ?? self }

    fileprivate var isPartition: Bool {
        ["request_", "verification_", "send_", "message_"].contains { hasPrefix($0) }
    }
}

extension LedgerDatabase {
    fileprivate func withLogin(ofRole role: String, _ body: (PostgresPool) async throws -> Void) async throws {
        // The login without privileges still needs some role, so it gets one that has none on this schema.
        try await withLogin(granted: role == "nobody" ? "pg_signal_backend" : role, connections: 1, body)
    }
}

extension PostgresPool {
    /// The privileges that this login has on a table: `r`ead, `a`dd, `w`rite, `d`elete, `D` to delete all rows.
    fileprivate func privileges(on table: String) async throws -> String {
        let column = Statement(
            """
            SELECT quote_ident(a.attname) FROM pg_attribute a
            WHERE a.attrelid = (SELECT c.oid FROM pg_class c WHERE c.relname = $1 AND c.relnamespace = (
                SELECT oid FROM pg_namespace WHERE nspname = 'courier'))
              AND a.attnum > 0 AND NOT a.attisdropped AND a.attidentity = ''
            ORDER BY a.attnum LIMIT 1
            """,
            [.text(table)]
        )
        let name = try await withSession { try $0.execute(column).onlyRow.text(0) }
        let attempts = [
            ("r", "SELECT FROM courier.\(table) LIMIT 0"),
            ("a", "INSERT INTO courier.\(table) (\(name)) SELECT NULL WHERE false"),
            ("w", "UPDATE courier.\(table) SET \(name) = NULL WHERE false"),
            ("d", "DELETE FROM courier.\(table) WHERE false"),
            ("D", "TRUNCATE courier.\(table)"),
        ]
        var allowed = ""
        for (letter, attempt) in attempts where await notRefused([attempt]) != [] { allowed += letter }
        return allowed
    }

    /// Returns true when the server lets this login call a function, with arguments that cause no effect.
    ///
    /// Most arguments are NULL, but times are real: the planner never calls a strict function with a NULL argument.
    fileprivate func mayExecute(_ signature: String) async throws -> Bool {
        guard let open = signature.firstIndex(of: "(") else { return false }
        let types = signature[signature.index(after: open)...].dropLast().split(separator: ", ")
        let call =
            signature[..<open] + "("
            + types.map { $0.hasPrefix("timestamp") ? "clock_timestamp()" : "NULL::\($0)" }.joined(separator: ", ")
            + ")"
        return await notRefused(["SELECT \(call)"]) != []
    }
}
