// SPDX-License-Identifier: Apache-2.0

import Administration
import Dispatch
import Formats
import Glibc
import PostgresClient
import Synchronization
import TestTools

/// The migrated database that this process's tests copy, at a third of the cost of the migrations.
///
/// Migrations create partitions around the current day, so each day has its own template.
final class LedgerTemplate: Sendable {
    static let shared = LedgerTemplate()

    /// The prefix of this process's templates, and the name of the connection that shows that the process is alive.
    private let name = uniqueName("courier_template_")
    private let turnstile = Turnstile(places: 1)
    private let state = Mutex(State())

    private struct State {
        var owner: PostgresConnection?
        var templates: Set<String> = []
    }

    /// The template of the server's current day; near midnight it first waits for the next day.
    ///
    /// No session may connect to a template, since a database with connections cannot be copied.
    func current(on server: PostgresConnection, _ configuration: PostgresConfiguration) async throws -> String {
        var day = try await Self.day(on: server)
        while day.millisecondsLeft < 20_000 {
            // Only the clock signals the end of the day.
            try await Task.sleep(for: .milliseconds(day.millisecondsLeft + 1))
            day = try await Self.day(on: server)
        }
        let template = name + "_" + day.date
        return try await turnstile.pass {
            if state.withLock({ $0.templates.contains(template) }) { return template }
            let owner = try await owner(configuration)
            try await owner.run { session in
                try session.script("DROP DATABASE IF EXISTS \(template)")
                try session.script("CREATE DATABASE \(template)")
            }
            var own = configuration
            own.url = try LedgerDatabase.serverURL(database: template)
            let pool = PostgresPool(own, size: 1)
            try await doing {
                _ = try await Migrator(pool: pool).migrate()
            } afterwards: {
                await pool.close()
            }
            try await owner.run { session in
                try session.script("ALTER DATABASE \(template) WITH ALLOW_CONNECTIONS false")
            }
            _ = state.withLock { $0.templates.insert(template) }
            return template
        }
    }

    private static func day(on server: PostgresConnection) async throws -> (date: String, millisecondsLeft: Int64) {
        let now = Statement(
            """
            SELECT to_char(t.now, 'YYYYMMDD'),
                (extract(epoch FROM date_trunc('day', t.now) + interval '1 day' - t.now) * 1000)::bigint
            FROM (SELECT clock_timestamp() AT TIME ZONE 'UTC') AS t(now)
            """
        )
        return try await server.run { session in
            let row = try session.execute(now).onlyRow
            return (try row.text(0), try row.int64(1))
        }
    }

    /// The connection that lasts as long as the process; its first use drops the templates of killed processes.
    private func owner(_ configuration: PostgresConfiguration) async throws -> PostgresConnection {
        if let owner = state.withLock(\.owner) { return owner }
        var own = configuration
        own.applicationName = name
        let owner = PostgresConnection(own)
        let orphans = Statement(
            """
            SELECT datname::text FROM pg_database
            WHERE datname ~ '^courier_template_[0-9a-z]+_[0-9]+$' AND split_part(datname, '_', 3) NOT IN (
                SELECT split_part(application_name, '_', 3) FROM pg_stat_activity
                WHERE starts_with(application_name, 'courier_template_')
            )
            """
        )
        try await owner.run { session in
            for orphan in try session.execute(orphans).map({ try $0.text(0) }) {
                try session.script("DROP DATABASE IF EXISTS \(orphan)")
            }
        }
        state.withLock { $0.owner = owner }
        atexit { LedgerTemplate.shared.drop() }
        return owner
    }

    /// Drops the templates at the end of the process, and waits ten seconds at most for the server.
    private func drop() {
        let (owner, templates) = state.withLock { ($0.owner, $0.templates) }
        guard let owner else { return }
        let dropped = DispatchSemaphore(value: 0)
        // The process exits when this function returns, so it must block its thread until the task ends.
        Task.detached {
            for template in templates {
                do {
                    try await owner.run { session in try session.script("DROP DATABASE IF EXISTS \(template)") }
                } catch {
                    print("\(template) stays, until other tests use its server: \(error)")
                }
            }
            dropped.signal()
        }
        _ = dropped.wait(timeout: .now() + 10)
    }
}
