// SPDX-License-Identifier: Apache-2.0

import PostgresClient
import TestSupport
import Testing

/// Checks that errors contain no values, although the server's messages quote them.
@Suite struct ErrorTextTests {
    private static let canary = "canary+4915123456789"

    /// Statements that fail in different ways, each with the canary among its values.
    private static let failing: [Statement] = [
        Statement("INSERT INTO courier.tenant_gate VALUES ($1), ($1)", [.text(canary)]),
        Statement("SELECT $1::int", [.text(canary)]),
        Statement("SELECT $1::uuid", [.text(canary)]),
        Statement("SELECT $1::timestamptz", [.text(canary)]),
        Statement("SELECT $1::jsonb", [.text(canary)]),
        Statement("SELECT xmlparse(document $1)", [.text(canary)]),
        Statement("SELECT $1::regclass", [.text(canary)]),
        Statement("INSERT INTO courier.receipt SELECT gen_random_uuid(), $1, NULL, NULL, $1", [.text(canary)]),
        Statement("INSERT INTO courier.limit_window SELECT gen_random_uuid(), now(), $1", [.text(canary)]),
        Statement("SELECT $1 ~ ('[' || $1)", [.text(canary)]),
        Statement("SELECT set_config($1, $1, false)", [.text(canary)]),
        Statement("SELECT pg_read_file($1)", [.text(canary)]),
        Statement(
            "SELECT courier.admit_tenants(ARRAY[$1], ARRAY[1], now(), ARRAY[$1], ARRAY[0], ARRAY[1000])",
            [.text(canary)]
        ),
    ]

    @Test func `the error of a statement has none of its values`() async throws {
        try await LedgerDatabase.with(connections: 1) { database in
            for statement in Self.failing {
                let error = await #expect(throws: PostgresError.self, "\(statement)") {
                    try await database.pool.withTransaction { _ = try $0.run([statement]) }
                }
                let shown = Self.everything(of: error)
                #expect(!shown.contains("canary"), "\(statement)")
                #expect(!shown.contains("4915123456789"), "\(statement)")
                #expect(error?.sqlState != nil, "\(statement): \(shown)")
            }
        }
    }

    @Test(
        arguments: [
            "postgresql://user:canary-secret@127.0.0.1:1/none",
            "postgresql://user:canary-secret@127.0.0.1:1/none?sslmode=canary-secret",
            "postgresql://user:canary-secret@127.0.0.1:1/none?canary-secret=1",
            "postgresql://user:canary-secret@127.0.0.1:port/none",
            "postgresql://user:canary-secret@[127.0.0.1/none",
            "postgresql://user:canary%-secret@127.0.0.1/none",
            "host=127.0.0.1 port=1 password=canary-secret",
            "host=127.0.0.1 port=1 password='canary-secret",
            "canary-secret",
        ]
    )
    func `the error of an address has no password`(_ url: String) async throws {
        let pool = PostgresPool(PostgresConfiguration(url: url), size: 1)
        let error = await #expect(throws: PostgresError.self) {
            try await pool.withSession { try $0.script("SELECT 1") }
        }
        await pool.close()
        #expect(!Self.everything(of: error).contains("canary-secret"))
    }

    /// All text that a log could derive from an error.
    private static func everything(of error: PostgresError?) -> String {
        guard let error else { return "" }
        var dumped = ""
        dump(error, to: &dumped)
        return "\(error) \(String(reflecting: error)) \(dumped)"
    }
}
