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
            be run again at any time: what is there is checked and left alone. Afterwards
            give the two roles to your own logins:

              GRANT courier_worker TO worker_login;
              GRANT courier_verifier TO verifier_login;

            Example, and what comes next:

              code-courier migrate --postgres-url postgresql://owner@host/courier
              code-courier run --config courier.yaml
            """
    )

    @OptionGroup var options: ConfigurationOptions

    @Option(help: "The database as a libpq URI; default: postgres.url of the configuration.")
    var postgresURL: String?

    func run() async throws {
        let url = try postgresURL ?? options.databaseURL()
        let pool = PostgresPool(PostgresConfiguration(url: url, applicationName: "code-courier migrate"), size: 1)
        do {
            let applied = try await Migrator(pool: pool).migrate()
            for name in applied { print("applied \(name)") }
            print(applied.isEmpty ? "nothing to do: the database is up to date" : "the database is up to date")
            await pool.close()
        } catch {
            await pool.close()
            throw StartFailure.report([DatabaseFault(error)])
        }
    }
}

extension ConfigurationOptions {
    /// The one database of the configuration.
    func databaseURL() throws -> String {
        let postgres = try StartFailure.unwrap(
            CourierConfiguration.loadPostgres(path: config, environment: environment)
        )
        return try postgres.onlyDatabase()
    }
}

extension PostgresSettings {
    /// The database, as long as there is one.
    func onlyDatabase() throws -> String {
        guard databases.count == 1, let database = databases.first else {
            throw StartFailure.report(["postgres.shards: this version works with one database; name it in postgres.url"]
            )
        }
        return database.revealed
    }
}

/// A database that cannot be used, in one line.
struct DatabaseFault: CustomStringConvertible {
    let description: String

    init(_ error: any Error) {
        let isForbidden = (error as? PostgresError)?.sqlState == SQLState(rawValue: "42501")
        let hint =
            isForbidden ? "; the role lacks a right: GRANT courier_worker TO it (a verifier: courier_verifier)" : ""
        description = "postgres.url: \(error)\(hint)"
    }
}
