// SPDX-License-Identifier: Apache-2.0

package import TestSupport

/// Logins that have the rights of a worker and of a verifier, and no others.
package struct TestLogins: Sendable {
    package let workerURL: String
    package let verifierURL: String

    /// The password of both, which must never be shown.
    package let password: String

    /// Lends two logins to a database, and drops them afterwards.
    package static func with<Result>(
        _ database: LedgerDatabase,
        _ body: (TestLogins) async throws -> Result
    ) async throws -> Result {
        let name = uniqueName("courier_test_")
        let password = uniqueName("secret")
        try await database.script(
            """
            CREATE ROLE \(name)_worker LOGIN PASSWORD '\(password)' IN ROLE courier_worker;
            CREATE ROLE \(name)_verifier LOGIN PASSWORD '\(password)' IN ROLE courier_verifier;
            """
        )
        let logins = TestLogins(
            workerURL: DatabaseURL(database.url).with(user: "\(name)_worker", password: password).text,
            verifierURL: DatabaseURL(database.url).with(user: "\(name)_verifier", password: password).text,
            password: password
        )
        let outcome: Swift.Result<Result, any Error>
        do {
            outcome = .success(try await body(logins))
        } catch {
            outcome = .failure(error)
        }
        try await database.script("DROP ROLE \(name)_worker; DROP ROLE \(name)_verifier;")
        return try outcome.get()
    }
}

/// A libpq URI, taken apart as far as the tests change it.
package struct DatabaseURL {
    private var credentials: Substring?
    private var authority: Substring
    private var database: Substring
    private var parameters: [Substring]

    package init(_ url: String) {
        let rest = url.split(separator: "://", maxSplits: 1).last ?? ""
        let parts = rest.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        let place = parts[0].split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
        if let at = place[0].lastIndex(of: "@") {
            credentials = place[0][..<at]
            authority = place[0][place[0].index(after: at)...]
        } else {
            authority = place[0]
        }
        database = place.count > 1 ? place[1] : ""
        parameters = parts.count > 1 ? parts[1].split(separator: "&") : []
    }

    package var name: String { String(database) }

    package var text: String {
        let user = credentials.map { "\($0)@" } ?? ""
        let query = parameters.isEmpty ? "" : "?" + parameters.joined(separator: "&")
        return "postgresql://\(user)\(authority)/\(database)\(query)"
    }

    package func with(user: String, password: String) -> DatabaseURL {
        var copy = without(["user", "password"])
        copy.credentials = "\(user):\(password)"
        return copy
    }

    package func with(database: String) -> DatabaseURL {
        var copy = without(["dbname"])
        copy.database = database[...]
        return copy
    }

    package func with(port: Int) -> DatabaseURL {
        var copy = without(["host", "hostaddr", "port"])
        copy.authority = "127.0.0.1:\(port)"
        return copy
    }

    /// With a setting for every session, such as one that a trigger reads.
    package func with(setting name: String, value: String) -> DatabaseURL {
        var copy = without(["options"])
        copy.parameters.append("options=-c%20\(name)%3D\(value)")
        return copy
    }

    private func without(_ names: Set<String>) -> DatabaseURL {
        var copy = self
        copy.parameters.removeAll { names.contains(String($0.prefix { $0 != "=" })) }
        return copy
    }
}
