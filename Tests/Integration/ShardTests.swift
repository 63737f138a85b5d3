// SPDX-License-Identifier: Apache-2.0

import FleetSupport
import Ledger
import PostgresClient
import Sandbox
import TestSupport
import Testing
import Verification

extension Endurance {
    @Suite struct Shards {
        @Test func `two databases are migrated, used and verified as one, also when a worker dies`() async throws {
            try await TestFleet.with(partitions: 4) { fleet in
                try await LedgerDatabase.withEmpty(2) { shards in
                    try await migrate(shards, fleet)
                    let urls = shards.map { fleet.url(of: $0, as: fleet.logins.workerURL) }
                    try fleet.configure("url: \"\(fleet.logins.workerURL)\"", "shards: \(urls)")
                    fleet.sandbox.add(.delay(.milliseconds(300)), times: -1)
                    let settings = ["WORKER_MAX_IN_FLIGHT": "40", "WORKER_BATCH_SIZE": "20"]
                    let doomed = try await fleet.startWorker(settings)
                    let survivor = try await fleet.startWorker(settings)
                    try await eventually("both have partitions") {
                        doomed.logged.contains("kafka.revoked") && survivor.logged.contains("kafka.assigned")
                    }
                    let requests = Numbers.take(120).map { TestRequest(phoneNumber: $0) }
                    try await fleet.send(requests)
                    try await eventually("messages are under way") { fleet.sent.count >= 40 }
                    try await doomed.crash()
                    try await judge(requests, shards, fleet)
                    try await verifyByCommand(shards, fleet)
                    for worker in fleet.workers where worker.program.isRunning { try await worker.stop() }
                    try await refuseAnotherOrder(urls, fleet)
                }
            }
        }

        private func migrate(_ shards: [LedgerDatabase], _ fleet: TestFleet) async throws {
            let arguments = ["migrate", "--config", fleet.folder[TestFleet.configurationFile]]
            func run(_ shards: [LedgerDatabase]) async throws -> (Program, Program.Exit) {
                let urls = shards.map(\.url).joined(separator: ",")
                return try await fleet.command(arguments, environment: ["POSTGRES_SHARDS": urls])
            }
            let (first, code) = try await run(shards)
            #expect(code == .code(0), "\(first.errors)")
            #expect(first.lines.suffix(1) == ["postgres.shards[1] is up to date"])
            #expect(try await run(shards).0.lines.count == 2)
            let (swapped, refused) = try await run(shards.reversed())
            #expect(refused == .code(2))
            #expect(swapped.errorLines.count == 1)
            #expect(swapped.errors.contains("postgres.shards[0]: the database is shard 1 of 2"))
        }

        private func judge(_ requests: [TestRequest], _ shards: [LedgerDatabase], _ fleet: TestFleet) async throws {
            let events = try await fleet.events(of: requests.map(\.id), within: .seconds(60))
            let byRequest = Dictionary(grouping: events, by: \.body.requestId)
            let messages = fleet.messages
            let pools = shards.map { fleet.verifierPool(of: $0) }
            let verifier = Verifier(shards: pools, hashKeys: CodeKeys.test.hash)
            var used: Set<UInt8> = []
            for request in requests {
                let event = try #require(byRequest[request.id]?.first)
                #expect([Answer("sent"), Answer("unknown", "worker_lost")].contains(event.answer))
                let sent = messages[request.phoneNumber, default: []]
                #expect(sent.count <= 1)
                if event.answer == Answer("sent") { #expect(sent.count == 1) }
                let id = try #require(event.verification)
                used.insert(id.uuid.shard)
                guard let code = sent.first?.code else { continue }
                let answer = try await verifier.check(id, tenant: "default", purpose: .signIn, code: code)
                #expect(answer.status == .approved)
            }
            #expect(used == [0, 1])
            for pool in pools { await pool.close() }
        }

        private func verifyByCommand(_ shards: [LedgerDatabase], _ fleet: TestFleet) async throws {
            let urls = shards.map { fleet.url(of: $0, as: fleet.logins.verifierURL) }
            let requests = Numbers.take(4).map { TestRequest(phoneNumber: $0) }
            try await fleet.send(requests)
            for event in try await fleet.events(of: requests.map(\.id), within: .seconds(60)) {
                let request = try #require(requests.first { $0.id == event.body.requestId })
                let code = try #require(fleet.messages[request.phoneNumber]?.first?.code)
                let (program, exit) = try await fleet.command(
                    [
                        "verify", "--config", fleet.folder[TestFleet.configurationFile], "--verification",
                        try #require(event.body.verificationId), "--code", code,
                    ],
                    environment: ["POSTGRES_SHARDS": urls.joined(separator: ",")]
                )
                #expect(exit == .code(0), "\(program.errors)")
                #expect(program.lines == ["approved"])
            }
        }

        private func refuseAnotherOrder(_ urls: [String], _ fleet: TestFleet) async throws {
            let (program, exit) = try await fleet.command(
                ["run", "--config", fleet.folder[TestFleet.configurationFile]],
                environment: ["POSTGRES_SHARDS": urls.reversed().joined(separator: ",")]
            )
            #expect(exit == .code(2))
            #expect(program.errors.contains("postgres.shards[0]: the database is shard 1 of 2"), "\(program.errors)")
        }
    }
}

extension TestFleet {
    /// Another database by a login of the fleet's own, which has its rights on the whole server.
    fileprivate func url(of shard: LedgerDatabase, as login: String) -> String {
        DatabaseURL(login).with(database: DatabaseURL(shard.url).name).text
    }

    fileprivate func verifierPool(of shard: LedgerDatabase) -> PostgresPool {
        let url = url(of: shard, as: logins.verifierURL)
        return PostgresPool(PostgresConfiguration(url: url, applicationName: "verifier"), size: 1)
    }
}
