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

            Before an upgrade, --status says what is missing, and --plan prints its SQL;
            both change nothing and end with 0 for an up-to-date database and with 1 for
            one that a migration is missing in.

              POSTGRES_URL_FILE=owner-url code-courier migrate --status

            A password in --postgres-url is moved into the environment at once. Until then
            ps shows it to every user of the machine, and the shell's history keeps it.
            """
    )

    @OptionGroup var options: ConfigurationOptions

    @Option(help: "The database as a libpq URI; default: the configuration's.")
    var postgresURL: String?

    @Flag(help: "List the migrations, applied or pending, and change nothing.")
    var status = false

    @Flag(help: "Print the SQL of the pending migrations, and change nothing.")
    var plan = false

    func validate() throws {
        if status && plan { throw ValidationError("give one of --status and --plan") }
    }

    func run() async throws {
        let url = try options.databaseURL(or: postgresURL)
        let configuration = PostgresConfiguration(url: url, applicationName: "code-courier migrate")
        let pool = PostgresPool(configuration, size: 1)
        do {
            try await ServerCheck.run(configuration)
            let isCurrent = try await perform(Migrator(pool: pool))
            await pool.close()
            if !isCurrent { throw ExitCode(1) }
        } catch let code as ExitCode {
            throw code
        } catch {
            await pool.close()
            throw StartFailure.report([DatabaseFault(error, role: nil)])
        }
    }

    /// Performs the action of the flags; returns true if no migration is missing afterwards.
    private func perform(_ migrator: Migrator) async throws -> Bool {
        guard status || plan else {
            let applied = try await migrator.migrate()
            for name in applied { print("applied \(name)") }
            print("\(applied.isEmpty ? "nothing to do: " : "")the database is up to date")
            return true
        }
        let pending = try await migrator.pending()
        if plan {
            for migration in pending { print("-- \(migration.name)\n\n\(migration.sql)") }
        } else {
            let names = Set(pending.map(\.name))
            for migration in Migration.all {
                print("\(names.contains(migration.name) ? "pending" : "applied")  \(migration.name)")
            }
        }
        return pending.isEmpty
    }
}
