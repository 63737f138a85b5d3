// SPDX-License-Identifier: Apache-2.0

import Ledger
import PostgresClient

/// A database that cannot be used, in one line.
struct DatabaseFault: Error, CustomStringConvertible {
    let description: String

    /// Whether the database answered, and has other keys under the same ids.
    let isOfKeys: Bool

    /// Says what the command's login lacks, if that is what is wrong: a role, or without one the database itself.
    init(_ error: any Error, _ place: ShardPlace = .only, role: String? = "courier_worker") {
        let key = place == .only ? "postgres.url" : "postgres.shards[\(place.number)]"
        isOfKeys = error is KeyCheck.OtherKeys
        guard !isOfKeys else {
            // The key that is wrong is none of PostgreSQL's.
            description = place == .only ? "\(error)" : "\(error); so says \(key)"
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
        description = "\(key): \(error)\(isForbidden ? "; the login lacks a right: \(hint)" : advice)"
    }
}

extension [PostgresConfiguration] {
    /// Throws a fault unless every server can hold a ledger.
    func checkServers(role: String? = "courier_worker") async throws(DatabaseFault) {
        try await forEachDatabase(role: role) { configuration, _ in try await ServerCheck.run(configuration) }
    }
}

extension Array {
    /// Lets one database after the other do something; throws a fault that names the one that fails.
    func forEachDatabase(
        role: String? = "courier_worker",
        _ body: (Element, ShardPlace) async throws -> Void
    ) async throws(DatabaseFault) {
        for (number, database) in enumerated() {
            let place = ShardPlace(number, of: count)
            do {
                try await body(database, place)
            } catch {
                throw DatabaseFault(error, place, role: role)
            }
        }
    }
}
