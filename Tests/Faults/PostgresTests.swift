// SPDX-License-Identifier: Apache-2.0

import FleetSupport
import Formats
import Glibc
import PostgresClient
import TestSupport
import TestTools
import Testing

extension Storage {
    @Suite struct PostgresFaults {
        @Test func `PostgreSQL crashes and comes back under load`() async throws {
            try await PrivatePostgres.with { server in
                let plan = Scenario.Plan(partitions: 6)
                try await Scenario.run("postgres_crash", quick: 4, full: 100, plan: plan) { scenario in
                    for _ in 0..<3 { try await scenario.startWorker(waiting: false) }
                    try await scenario.waitForCalls(1, sending: scenario.makeRequests(10))
                    for _ in scenario.rounds() {
                        try await scenario.waitForCalls(1, sending: scenario.makeRequests(60))
                        // The crash must hit any point of the work, not always after the first call.
                        try await Task.sleep(for: scenario.randomTime(below: .milliseconds(300)))
                        try await server.crash()
                        scenario.countFaults()
                        try await scenario.send(scenario.makeRequests(20))
                        try await server.start()
                        try await scenario.noteRecovery(within: .seconds(5))
                    }
                    let database = scenario.fleet.database
                    try await eventually("every send is settled") {
                        try await database.count("SELECT count(*) FROM courier.parcel") == 0
                    }
                    // In a short run a few calls cut short by a busy machine would exceed the limit below.
                    guard Campaign.isFull else { return }
                    // The workers survive the crash, and know the outcomes of their sends.
                    let unknown = try await database.count("SELECT count(*) FROM courier.send WHERE state = 'unknown'")
                    #expect(Int(unknown) <= scenario.requests.count / 20)
                }
            }
        }

        @Test func `others take every connection that PostgreSQL has`() async throws {
            try await PrivatePostgres.with(settings: "max_connections = 30") { server in
                try await Scenario.run("postgres_connections", quick: 1, full: 10) { scenario in
                    for _ in 0..<2 { try await scenario.startWorker() }
                    for _ in scenario.rounds() {
                        try await scenario.waitForCalls(1, sending: scenario.makeRequests(50))
                        try await exhaust(server, for: .seconds(Campaign.isFull ? 10 : 5)) {
                            scenario.countFaults()
                            try await scenario.send(scenario.makeRequests(50))
                        }
                        try await scenario.noteRecovery(within: .seconds(5))
                    }
                }
            }
        }

        @Test func `PostgreSQL's disk is full for a while`() async throws {
            try await PrivatePostgres.with(diskSize: 80) { server in
                try await Scenario.run("postgres_disk_full", quick: 1, full: 10) { scenario in
                    let worker = try await scenario.startWorker()
                    for round in scenario.rounds() {
                        try await scenario.waitForCalls(1, sending: scenario.makeRequests(50))
                        try server.fillDisk()
                        scenario.countFaults()
                        let refusals = server.refusalsOfDisk
                        try await eventually("the disk is too small") {
                            try await scenario.send(scenario.makeRequests(200))
                            return server.refusalsOfDisk > refusals
                        }
                        // With a full disk the server may exit or keep running: this is its time for either.
                        try await Task.sleep(for: .seconds(3))
                        scenario.note("server_ended", server.isRunning ? 0 : 1)
                        #expect(!server.isRunning || worker.program.output.contains("53100"), "the disk is full")
                        try await server.growDisk(to: 180 + 100 * round)
                        try await eventually("the server is back") {
                            if !server.isRunning { try await server.start() }
                            // The server may still exit because of the full disk, at the next checkpoint at the latest.
                            return (try? await scenario.fleet.database.script("CHECKPOINT")) != nil && server.isRunning
                        }
                        try await scenario.noteRecovery(within: .seconds(10))
                    }
                }
            }
        }

        /// A paused server closes no connection, so only the workers' own deadlines detect it.
        @Test func `PostgreSQL stands still with every connection open`() async throws {
            let plan = Scenario.Plan(quietTime: .seconds(120))
            try await PrivatePostgres.with { server in
                try await Scenario.run("postgres_silent", quick: 15, full: 60, plan: plan) { scenario in
                    let worker = try await scenario.startWorker()
                    try await scenario.waitForCalls(400, sending: scenario.makeRequests(500))
                    let before = try #require(worker.program.figures)
                    server.pause()
                    // The cleanup needs the server, also after a failure.
                    defer { server.resume() }
                    scenario.countFaults()
                    for _ in 0..<scenario.size {
                        try await scenario.send(scenario.makeRequests(20))
                        // Interval of the requests; one second each makes the silence `size` seconds long.
                        try await Task.sleep(for: .seconds(1))
                    }
                    let after = try #require(worker.program.figures, "the worker has ended")
                    server.resume()
                    try await scenario.noteRecovery(within: .seconds(15))
                    scenario.note("memory_before_mib", before.memory)
                    scenario.note("memory_after_mib", after.memory)
                    #expect(after.memory < before.memory * 1.1 + 16)
                    #expect(worker.logged.count { $0 == "kafka.assigned" } == 1, "the worker stays in its group")
                }
            }
        }

        /// Ends the workers' connections and occupies all connections of the server.
        private func exhaust(
            _ server: PrivatePostgres,
            for time: Duration,
            _ body: () async throws -> Void
        ) async throws {
            var hogs: [PostgresConnection] = []
            let end = ContinuousClock.now + time
            try await body()
            while ContinuousClock.now < end {
                if let first = hogs.first {
                    try await first.run { session in
                        try session.script(
                            """
                            SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity
                            WHERE usename LIKE '%\\_worker'
                            """
                        )
                    }
                }
                while let hog = await hog(server) { hogs.append(hog) }
                // Interval at which freed connections are occupied, which leaves processor time to the workers.
                try await Task.sleep(for: .milliseconds(20))
            }
            for hog in hogs { await hog.close() }
        }

        private func hog(_ server: PrivatePostgres) async -> PostgresConnection? {
            let connection = PostgresConnection(PostgresConfiguration(url: server.url, applicationName: "hog"))
            do {
                try await connection.run { session in try session.script("SELECT 1") }
                return connection
            } catch {
                await connection.close()
                return nil
            }
        }
    }
}
