// SPDX-License-Identifier: Apache-2.0

import FleetSupport
import Ledger
import PostgresClient
import TestSupport
import TestTools
import Testing

extension CommandLineSuite {
    /// Tests a worker with PgBouncer in front of its database.
    @Suite struct Pooler {
        private static let ignoring = "ignore_startup_parameters = options"

        @Test(
            arguments: [
                "pool_mode = transaction", "pool_mode = statement",
                "pool_mode = transaction\nserver_round_robin = 1", "pool_mode = transaction\ndefault_pool_size = 1",
            ],
            ["", ignoring]
        )
        func `pooling by transaction or statement is refused in one line`(mode: String, options: String) async throws {
            try await PrivatePostgres.with { server in
                try await TestPooler.with(server, settings: "\(mode)\n\(options)") { url in
                    // Other clients' idle connections give the pooler several server processes.
                    try await Self.occupy(url)
                    let folder = try ScratchFolder()
                    let program = try Program(["migrate"], environment: ["POSTGRES_URL": url], folder: folder)
                    #expect(try await program.exit() == .code(2))
                    #expect(program.errorLines.count == 1, "\(program.errors)")
                    #expect(program.errors.contains("set pool_mode = session"), "\(program.errors)")
                }
            }
        }

        @Test func `pooling by session serves, and limits hold that the start could not bring along`() async throws {
            try await PrivatePostgres.with { server in
                try await TestPooler.with(server, settings: "pool_mode = session\n\(Self.ignoring)") { url in
                    let folder = try ScratchFolder()
                    let program = try Program(["migrate"], environment: ["POSTGRES_URL": url], folder: folder)
                    #expect(try await program.exit() == .code(0), "\(program.errors)")
                    let pool = PostgresPool(
                        PostgresConfiguration(
                            url: url,
                            statementTimeout: .seconds(7),
                            settings: PostgresLedger.sessionSettings
                        )
                    )
                    let limits = try await pool.withSession { session in
                        try session.execute(
                            Statement(
                                """
                                SELECT concat_ws(' ', current_setting('statement_timeout'),
                                    current_setting('lock_timeout'), current_setting('enable_seqscan'))
                                """
                            )
                        ).onlyRow.text(0)
                    }
                    #expect(limits == "7s 1s off")
                    await pool.close()
                }
            }
        }

        @Test func `a pooler that refuses the settings of a start is named with what it needs`() async throws {
            try await PrivatePostgres.with { server in
                try await TestPooler.with(server, settings: "pool_mode = session") { url in
                    let folder = try ScratchFolder()
                    let program = try Program(["migrate"], environment: ["POSTGRES_URL": url], folder: folder)
                    #expect(try await program.exit() == .code(2))
                    #expect(program.errorLines.count == 1, "\(program.errors)")
                    #expect(program.errors.contains("ignore_startup_parameters = options"), "\(program.errors)")
                }
            }
        }

        /// Runs three concurrent clients, and closes them.
        private static func occupy(_ url: String) async throws {
            var configuration = PostgresConfiguration(url: url)
            configuration.hasSettings = false
            try await withThrowingTaskGroup(of: Void.self) { [configuration] group in
                for _ in 0..<3 {
                    group.addTask {
                        let connection = PostgresConnection(configuration)
                        // The sleep keeps all three connections in use at the same time.
                        try await connection.run { try $0.script("SELECT pg_sleep(0.2)") }
                        await connection.close()
                    }
                }
                try await group.waitForAll()
            }
        }
    }
}
