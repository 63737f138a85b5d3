// SPDX-License-Identifier: Apache-2.0

import Administration
import FleetSupport
import Formats
import TestSupport
import TestTools
import Testing
import Verification

extension Endurance {
    @Suite struct Cells {
        @Test func `two cells side by side serve their own people, and one whose database is away stops only itself`()
            async throws
        {
            try await TestFleet.with { zero in
                try await TestFleet.with { seven in
                    let worker = try await zero.startWorker()
                    _ = try await seven.startWorker(["WORKER_CELL": "7"])
                    let event = try await serve(zero, cell: 0)
                    _ = try await serve(seven, cell: 7)
                    try await refuse(event, of: zero, in: seven)
                    try await refuseWorker(zero)

                    let late = try await zero.database.withConnectionsRefused(seven.database) {
                        let late = try await zero.sendRequests(3)
                        try await worker.waitForLog("postgres.failing")
                        _ = try await serve(seven, cell: 7)
                        return late
                    }
                    try await zero.expectOne(of: late)
                    #expect(!seven.workers.contains { $0.logged.contains("postgres.failing") })
                }
            }
        }

        /// Expects one message per person, ids of the cell, and codes that its database approves.
        private func serve(_ fleet: TestFleet, cell: UInt8) async throws -> Event {
            let requests = try await fleet.sendRequests(3)
            try await fleet.expectOne(of: requests)
            let events = try await fleet.events(of: requests.map(\.id))
            for event in events {
                let request = try #require(requests.first { $0.id == event.body.requestId })
                let send = try #require(event.body.send.flatMap { UUIDValue($0.id) })
                #expect(send.cell == cell && event.verification?.uuid.cell == cell)
                let code = try #require(fleet.messages[request.phoneNumber]?.first?.code)
                #expect(try await fleet.check(code, event) == .approved)
            }
            return try #require(events.first)
        }

        /// Expects that a cell rejects another cell's receipt and code, and names the other cell.
        private func refuse(_ event: Event, of zero: TestFleet, in seven: TestFleet) async throws {
            let send = try #require(event.body.send?.id)
            let receipt = #"{"provider":"main","sendId":"\#(send)","status":"delivered"}"#
            let record = TestRecord(key: nil, value: Array(receipt.utf8))
            try await seven.send([record], to: seven.topics.receipts)
            let letter = try #require(try await seven.deadLetters(1).first)
            #expect(letter.text("dead-letter-reason") == "other_cell")
            try await zero.send([record], to: zero.topics.receipts)
            let events = try await zero.events(of: [event.body.requestId], each: 2)
            #expect(events.map(\.answer) == [Answer("sent"), Answer("delivered")])

            let id = try #require(event.body.verificationId)
            let (program, exit) = try await seven.command(
                [
                    "verify", "--config", seven.folder[TestFleet.configurationFile], "--verification", id, "--code",
                    "123456",
                ],
                environment: ["POSTGRES_URL": seven.logins.verifierURL]
            )
            #expect(exit == .code(1))
            #expect(program.lines == ["not_found"])
            #expect(program.errors.contains("names cell 0"), "\(program.errors)")
        }

        /// Expects that a worker of another cell exits at its start and leaves the database unchanged.
        private func refuseWorker(_ zero: TestFleet) async throws {
            let (program, exit) = try await zero.command(
                ["run", "--config", zero.folder[TestFleet.configurationFile]],
                environment: ["WORKER_CELL": "7"]
            )
            #expect(exit == .code(2))
            #expect(program.errorLines.count == 1)
            let line = "postgres.url: the database belongs to cell 0 (courier.cell) and worker.cell is 7"
            #expect(program.errors.contains(line), "\(program.errors)")
            #expect(try await zero.database.texts("SELECT number::text FROM courier.cell") == ["0"])
        }
    }
}

extension LedgerDatabase {
    /// Ends all connections and refuses new ones during the body, as a failed server does.
    fileprivate func withConnectionsRefused<Result>(
        _ other: LedgerDatabase,
        _ body: () async throws -> Result
    ) async throws -> Result {
        let name = try await text("SELECT current_database()") ?? ""
        try await other.script("ALTER DATABASE \(name) ALLOW_CONNECTIONS false")
        try await other.script("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '\(name)'")
        return try await doing(body) {
            try await other.script("ALTER DATABASE \(name) ALLOW_CONNECTIONS true")
        }
    }
}
