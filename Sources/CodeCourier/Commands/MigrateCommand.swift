// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Ledger
import PostgresClient
import Providers

/// Migrates a database.
struct MigrateCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "migrate",
        abstract: "Brings a database's tables, functions and roles up to date.",
        discussion: """
            Run it as the owner of the database, with a role that may create roles. It may
            be run again at any time: what is there is checked and left alone. With
            postgres.shards it migrates all of them, and tells each which one it is: their
            order and their number are fixed from then on. Afterwards give the roles to
            your own logins; an operator's may erase recipients:

              GRANT courier_worker TO worker_login;
              GRANT courier_verifier TO verifier_login;
              GRANT courier_operator TO operator_login;

            Example, and what comes next:

              code-courier migrate --postgres-url postgresql://owner@host/courier
              code-courier run --config courier.yaml
            """
    )

    @OptionGroup var options: ConfigurationOptions

    @Option(help: "The database as a libpq URI; default: the configuration's.")
    var postgresURL: String?

    func run() async throws {
        let urls = try postgresURL.map { [$0] } ?? options.databaseURLs()
        let pools = urls.map {
            PostgresPool(PostgresConfiguration(url: $0, applicationName: "code-courier migrate"), size: 1)
        }
        do {
            // First all are asked: where one is not in its place, none is changed.
            try await pools.forEachDatabase { migrator, _ in try await migrator.checkPlace() }
            try await pools.forEachDatabase { migrator, place in
                let applied = try await migrator.migrate()
                let title = place == .only ? "the database" : "postgres.shards[\(place.number)]"
                for name in applied { print(place == .only ? "applied \(name)" : "\(title): applied \(name)") }
                print(applied.isEmpty ? "nothing to do: \(title) is up to date" : "\(title) is up to date")
            }
            await pools.close()
        } catch {
            await pools.close()
            throw StartFailure.report([error])
        }
    }
}

extension [PostgresPool] {
    /// Lets one database after the other do something; throws a fault that names the one that fails.
    fileprivate func forEachDatabase(_ body: (Migrator, ShardPlace) async throws -> Void) async throws(DatabaseFault) {
        for (number, pool) in enumerated() {
            let place = ShardPlace(number, of: count)
            do {
                try await body(Migrator(pool: pool, place: place), place)
            } catch {
                throw DatabaseFault(error, place)
            }
        }
    }
}

extension ConfigurationOptions {
    /// The databases of the configuration, in their order.
    func databaseURLs() throws -> [String] {
        let postgres = try StartFailure.unwrap(
            CourierConfiguration.loadPostgres(path: config, environment: environment)
        )
        return postgres.databases.map(\.revealed)
    }
}

/// A database that cannot be used, in one line.
struct DatabaseFault: Error, CustomStringConvertible {
    let description: String

    /// Names the role that the command's login lacks, if that is what is wrong.
    init(_ error: any Error, _ place: ShardPlace = .only, role: String = "courier_worker") {
        let isForbidden = (error as? PostgresError)?.sqlState == SQLState(rawValue: "42501")
        let other = role == "courier_worker" ? " (a verifier: courier_verifier)" : ""
        let hint = isForbidden ? "; the login lacks a right: GRANT \(role) TO it\(other)" : ""
        let key = place == .only ? "postgres.url" : "postgres.shards[\(place.number)]"
        description = "\(key): \(error)\(hint)"
    }
}
