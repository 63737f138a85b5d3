// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Ledger
import PostgresClient

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
              GRANT courier_monitor TO monitor_login;

            Example, and what comes next:

              code-courier migrate --postgres-url postgresql://owner@host/courier
              code-courier run --config courier.yaml
            """
    )

    @OptionGroup var options: ConfigurationOptions

    @Option(help: "The database as a libpq URI; default: the configuration's.")
    var postgresURL: String?

    func run() async throws {
        let urls = try options.databaseURLs(or: postgresURL)
        let configurations = urls.map {
            PostgresConfiguration(url: $0, applicationName: "code-courier migrate")
        }
        let pools = configurations.map { PostgresPool($0, size: 1) }
        do {
            try await configurations.checkServers(role: nil)
            // First all are asked: where one is not in its place, none is changed.
            try await pools.forEachDatabase(role: nil) { pool, place in
                try await Migrator(pool: pool, place: place).checkPlace()
            }
            try await pools.forEachDatabase(role: nil) { pool, place in
                let applied = try await Migrator(pool: pool, place: place).migrate()
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
