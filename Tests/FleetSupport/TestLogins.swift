// SPDX-License-Identifier: Apache-2.0

package import TestSupport
import TestTools

/// Logins with only the rights of a worker and of a verifier.
package struct TestLogins: Sendable {
    package let workerURL: String
    package let verifierURL: String
    package let operatorURL: String

    /// The password of all logins, which no output may contain.
    package let password: String

    /// Provides three logins to a database, and drops them afterwards.
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
            CREATE ROLE \(name)_operator LOGIN PASSWORD '\(password)' IN ROLE courier_operator;
            """
        )
        let logins = TestLogins(
            workerURL: DatabaseURL(database.url).with(user: "\(name)_worker", password: password).text,
            verifierURL: DatabaseURL(database.url).with(user: "\(name)_verifier", password: password).text,
            operatorURL: DatabaseURL(database.url).with(user: "\(name)_operator", password: password).text,
            password: password
        )
        return try await doing {
            try await body(logins)
        } afterwards: {
            try await database.script("DROP ROLE \(name)_worker, \(name)_verifier, \(name)_operator;")
        }
    }
}
