// SPDX-License-Identifier: Apache-2.0

import Administration
import PostgresClient

/// A database that cannot be used, in one line.
struct DatabaseFault: Error, CustomStringConvertible {
    let description: String

    /// Whether the database answered, and has other keys under the same ids.
    let isOfKeys: Bool

    /// Says what the command's login lacks, if that is what is wrong: a role, or without one the database itself.
    init(_ error: any Error, role: String? = "courier_worker") {
        isOfKeys = error is KeyCheck.OtherKeys
        guard !isOfKeys else {
            // The key that is wrong is none of PostgreSQL's.
            description = "\(error)"
            return
        }
        let cause = (error as? Migrator.Failure)?.error ?? error as? PostgresError
        let isForbidden = cause?.sqlState == SQLState(rawValue: "42501")
        let hint =
            switch role {
            case "courier_worker": "GRANT courier_worker TO it (a verifier: courier_verifier)"
            case let role?: "GRANT \(role) TO it"
            case nil: "do this as the owner of the database"
            }
        let isOptionsRefused = cause?.reason?.contains("unsupported startup parameter") == true
        let advice = isOptionsRefused ? "; PgBouncer needs ignore_startup_parameters = options" : ""
        description = "postgres.url: \(error)\(isForbidden ? "; the login lacks a right: \(hint)" : advice)"
    }
}
