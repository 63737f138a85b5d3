// SPDX-License-Identifier: Apache-2.0

import Administration
import PostgresClient

/// A database that cannot be used, in one line.
struct DatabaseFault: Error, CustomStringConvertible {
    let description: String

    /// Whether the database answered, and has other keys under the same ids.
    let isOfKeys: Bool

    /// True where the server was away or had no room, as it may not be at the next try.
    let isOutage: Bool

    /// Says what the command's login lacks, if that is what is wrong: a role, or without one the database itself.
    init(_ error: any Error, role: String? = "courier_worker") {
        isOfKeys = error is KeyCheck.OtherKeys
        isOutage = ((error as? Migrator.Failure)?.error ?? error as? PostgresError)?.isPassingOutage == true
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

extension PostgresError {
    /// True where the server is away and not told wrongly: of a connection that failed, libpq's words say which.
    fileprivate var isPassingOutage: Bool {
        guard code == .connectionFailed else { return isOutage && sqlState != .readOnlyTransaction }
        return Self.wordsOfOutages.contains { reason?.contains($0) == true }
    }

    /// The words of libpq and the C library for a server that cannot be reached, and a server's for what passes.
    private static let wordsOfOutages = [
        "Connection refused", "timeout expired", "Connection timed out", "No route to host", "Network is unreachable",
        "Host is down", "could not translate host name", "Connection reset by peer", "Broken pipe",
        "server closed the connection unexpectedly",
        "database system is starting up", "database system is shutting down", "database system is in recovery mode",
        "not yet accepting connections", "too many clients", "remaining connection slots",
    ]
}
