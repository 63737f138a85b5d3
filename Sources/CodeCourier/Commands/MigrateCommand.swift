// SPDX-License-Identifier: Apache-2.0

import Administration
import ArgumentParser
import PostgresClient

struct MigrateCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "migrate",
        abstract: "Brings a database's tables, functions and roles up to date.",
        discussion: """
            Run it as the owner of the database, with a role that may create roles. It may
            be run again at any time: what is there is checked and left alone. Afterwards
            give the roles to your own logins; an operator's may erase recipients:

              GRANT courier_worker TO worker_login;
              GRANT courier_verifier TO verifier_login;
              GRANT courier_operator TO operator_login;
              GRANT courier_monitor TO monitor_login;

            Example, and what comes next:

              code-courier migrate --postgres-url postgresql://owner@host/courier
              code-courier run --config courier.yaml

            The password comes from PGPASSWORD, or with the whole URL from a file:

              POSTGRES_URL_FILE=owner-url code-courier migrate

            One in --postgres-url moves into the environment at once. Until then ps shows
            it to every user of the machine, and a shell keeps it in its history.
            """
    )

    @OptionGroup var options: ConfigurationOptions

    @Option(help: "The database as a libpq URI; default: the configuration's.")
    var postgresURL: String?

    func run() async throws {
        let url = try options.databaseURL(or: postgresURL)
        let configuration = PostgresConfiguration(url: url, applicationName: "code-courier migrate")
        let pool = PostgresPool(configuration, size: 1)
        do {
            try await ServerCheck.run(configuration)
            let applied = try await Migrator(pool: pool).migrate()
            for name in applied { print("applied \(name)") }
            print("\(applied.isEmpty ? "nothing to do: " : "")the database is up to date")
            await pool.close()
        } catch {
            await pool.close()
            throw StartFailure.report([DatabaseFault(error, role: nil)])
        }
    }
}
