// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import PostgresClient

/// The database as a command uses it: one connection for one piece of work.
enum CommandDatabase {
    /// Runs a body with a pool of one connection, which is closed afterwards.
    ///
    /// A fault of the database is reported in one line, with advice for a login that is granted `role`; an exit code
    /// passes.
    static func with<Value>(
        _ configuration: PostgresConfiguration,
        role: String,
        _ body: (PostgresPool) async throws -> Value
    ) async throws -> Value {
        let pool = PostgresPool(configuration, size: 1)
        do {
            let value = try await body(pool)
            await pool.close()
            return value
        } catch {
            await pool.close()
            if error is ExitCode { throw error }
            throw StartFailure.report([DatabaseFault(error, role: role)])
        }
    }
}

/// The options that locate the configuration and the database of a command.
struct OperatorDatabaseOptions: ParsableArguments {
    @OptionGroup var options: ConfigurationOptions

    @Option(help: "The database as a libpq URI; default: the configuration's.")
    var postgresURL: String?

    /// The database for a command, which the connection names.
    func configuration(for command: String, statementTimeout: Duration = .seconds(10)) throws -> PostgresConfiguration {
        PostgresConfiguration(
            url: try options.databaseURL(or: postgresURL),
            applicationName: "code-courier \(command)",
            statementTimeout: statementTimeout
        )
    }

    /// Runs a body with a connection, which names the command; the login needs the role `courier_operator`.
    func withPool<Value>(
        for command: String,
        statementTimeout: Duration = .seconds(10),
        _ body: (PostgresPool) async throws -> Value
    ) async throws -> Value {
        let configuration = try configuration(for: command, statementTimeout: statementTimeout)
        return try await CommandDatabase.with(configuration, role: "courier_operator", body)
    }
}
