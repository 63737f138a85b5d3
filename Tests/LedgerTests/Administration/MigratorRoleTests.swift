// SPDX-License-Identifier: Apache-2.0

import PostgresClient
import TestSupport
import TestTools
import Testing
import Verification

@testable import Administration
@testable import Ledger

/// Tests owners without the right to create roles, as is usual on managed servers.
@Suite struct MigratorRoleTests {
    @Test func `roles that were made beforehand are taken as they are`() async throws {
        // Roles belong to the whole server: this other test database creates them.
        try await LedgerDatabase.with { _ in }
        try await LedgerDatabase.empty { database in
            try await database.withOwner { pool in
                #expect(try await Migrator(pool: pool).migrate() == Migration.all.map(\.name))
                try await Migrator(pool: pool).check()
            }
            try await database.withLogin(granted: "courier_worker") { pool in
                let claims = try await LedgerWorker(database.ledger(on: pool)).claims(2)
                #expect(claims.count == 2)
            }
        }
    }

    @Test func `a role that is missing is named, with what an administrator has to run`() async throws {
        let names = ["courier_worker", "courier_absent", "courier_gone"]
        try await LedgerDatabase.with { database in
            try await database.withOwner { pool in
                let refusal = await #expect(throws: Migrator.Refusal.self) {
                    try await pool.withSession { try Migrator.checkRoles(names, $0) }
                }
                #expect(refusal == .roles(missing: ["courier_absent", "courier_gone"]))
                let words = "\(try #require(refusal))"
                #expect(words.contains("CREATE ROLE courier_absent NOLOGIN; CREATE ROLE courier_gone NOLOGIN;"))
                #expect(!words.contains("\n"))
                try await pool.withSession { try Migrator.checkRoles(["courier_worker"], $0) }
            }
            try await database.pool.withSession { try Migrator.checkRoles(names, $0) }
        }
    }

    @Test func `the roles that a migration names are those that its file creates`() throws {
        for migration in Migration.all {
            let names = migration.sql.matches(of: /'(courier_\w+)'|CREATE ROLE (courier_\w+)/).compactMap {
                $0.1 ?? $0.2
            }
            let creates = migration.sql.contains("CREATE ROLE")
            #expect(Set(migration.roles) == Set(creates ? names.map(String.init) : []), "\(migration.name)")
        }
    }
}

extension LedgerDatabase {
    /// Provides connections of a login that owns the database and cannot create roles.
    fileprivate func withOwner<Result>(_ body: (PostgresPool) async throws -> Result) async throws -> Result {
        let name = "courier_owner_" + String(UInt64.random(in: 0...(.max)), radix: 36)
        let database = DatabaseURL(url)
        try await script(
            """
            CREATE ROLE \(name) LOGIN PASSWORD 'owner' NOSUPERUSER NOCREATEROLE;
            ALTER DATABASE \(database.name) OWNER TO \(name);
            """
        )
        return try await doing {
            try await withPool(connections: 1, url: database.with(user: name, password: "owner").text, body)
        } afterwards: {
            try await script("REASSIGN OWNED BY \(name) TO CURRENT_USER; DROP OWNED BY \(name); DROP ROLE \(name)")
        }
    }
}
