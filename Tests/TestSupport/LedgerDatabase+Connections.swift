// SPDX-License-Identifier: Apache-2.0

package import PostgresClient
import TestTools

extension LedgerDatabase {
    /// Runs a pool for the database, by default with a worker's session settings and the database's own URL.
    package func withPool<Result>(
        connections: Int = 4,
        url: String? = nil,
        settings: [(name: String, value: String)] = [],
        _ body: (PostgresPool) async throws -> Result
    ) async throws -> Result {
        let configuration = PostgresConfiguration(
            url: url ?? self.url,
            applicationName: "tests",
            settings: settings
        )
        let pool = PostgresPool(configuration, size: connections)
        return try await doing {
            try await body(pool)
        } afterwards: {
            await pool.close()
        }
    }

    /// Runs a pool of a login that has `role` and nothing else, and drops the login afterwards.
    package func withLogin<Result>(
        granted role: String,
        connections: Int = 4,
        settings: [(name: String, value: String)] = [],
        _ body: (PostgresPool) async throws -> Result
    ) async throws -> Result {
        let name = "courier_login_" + String(UInt64.random(in: 0...(.max)), radix: 36)
        let password = String(UInt64.random(in: 0...(.max)), radix: 36)
        try await script("CREATE ROLE \(name) LOGIN PASSWORD '\(password)' IN ROLE \(role)")
        return try await doing {
            let url = DatabaseURL(url).with(user: name, password: password).text
            return try await withPool(connections: connections, url: url, settings: settings, body)
        } afterwards: {
            try await script("DROP ROLE \(name)")
        }
    }
}
