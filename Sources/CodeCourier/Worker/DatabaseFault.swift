// SPDX-License-Identifier: Apache-2.0

import Administration
import Formats
import PostgresClient

/// The reason why a database cannot be used, in one line.
struct DatabaseFault: Error, CustomStringConvertible {
    let description: String

    /// True when the database answered, and the keys are not those that its fleet or its rows need.
    let isOfKeys: Bool

    /// The time until which live rows need keys that are missing; nil for every other fault.
    let keysNeededUntil: Timestamp?

    /// True for an outage, such as an unreachable or overloaded server, after which a retry may succeed.
    let isOutage: Bool

    /// Describes an error.
    ///
    /// For a missing privilege, the advice names the role to grant to the login, or without `role` the database's
    /// owner.
    init(_ error: any Error, role: String? = "courier_worker") {
        keysNeededUntil = (error as? KeyUse.MissingKeys)?.until
        isOfKeys = error is KeyCheck.OtherKeys || keysNeededUntil != nil
        isOutage = ((error as? Migrator.Failure)?.error ?? error as? PostgresError)?.isPassingOutage == true
        guard !isOfKeys, !(error is Verifier.Failure) else {
            // The fault is in the keys' settings, not in PostgreSQL's, so no advice about PostgreSQL is added.
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
    /// True for an unreachable server, false for a wrong setting: after a failed connection only libpq's message
    /// distinguishes the two.
    fileprivate var isPassingOutage: Bool {
        guard code == .connectionFailed else { return isOutage && sqlState != .readOnlyTransaction }
        return Self.wordsOfOutages.contains { reason?.contains($0) == true }
    }

    /// Parts of the messages of libpq, the C library and servers that mean an outage.
    private static let wordsOfOutages = [
        "Connection refused", "timeout expired", "Connection timed out", "No route to host", "Network is unreachable",
        "Host is down", "could not translate host name", "Connection reset by peer", "Broken pipe",
        "server closed the connection unexpectedly",
        "database system is starting up", "database system is shutting down", "database system is in recovery mode",
        "not yet accepting connections", "too many clients", "remaining connection slots",
    ]
}
