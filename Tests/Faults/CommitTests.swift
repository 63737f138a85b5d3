// SPDX-License-Identifier: Apache-2.0

import FleetSupport
import TestSupport
import TestTools
import Testing

extension Campaign {
    @Suite struct Commits {
        /// Number of bytes in each direction for one request, from its intake to its event's outbox record.
        private struct Passage {
            let client: Int
            let server: Int
        }

        /// A worker cannot know whether an interrupted transaction was committed, so repeating it must be harmless.
        @Test func `connections to PostgreSQL are cut at every byte around COMMIT`() async throws {
            let plan = Scenario.Plan(quietTime: .seconds(120))
            try await Scenario.run("commit_cut", quick: 60, full: 1000, plan: plan) { scenario in
                let cells = try await scenario.makeCells(Campaign.isFull ? 8 : 4)
                try await withThrowingTaskGroup(of: Void.self) { group in
                    for (number, cell) in cells.enumerated() {
                        group.addTask { try await cutAll(cell, number, of: cells.count) }
                    }
                    try await group.waitForAll()
                }
                // If an intake is committed without its worker's knowledge, its sends are claimed after their lease.
                let taken = try await scenario.fleet.database.count(
                    "SELECT count(*) FROM courier_test.send_change WHERE old_state IS NOT NULL AND new_fence > old_fence"
                )
                scenario.note("waited_for_lease", Double(taken))
            }
        }

        /// Each cell cuts at its share of the positions, which are spread evenly over a request's bytes.
        private func cutAll(_ cell: Cell, _ number: Int, of count: Int) async throws {
            let scenario = cell.scenario
            try await CuttableProxy.with(to: scenario.fleet.logins.workerURL) { proxy in
                let worker = try await cell.startWorker(postgresURL: proxy.url)
                let passage = try await measure(cell, proxy)
                if number == 0 { scenario.note("bytes_a_request", Double(passage.client + passage.server)) }
                let places = scenario.withDice { dice in
                    stride(from: number, to: scenario.size, by: count).shuffled(using: &dice)
                }
                // Each direction is cut at least twice.
                for round in scenario.rounds(places.count, atLeast: 4) {
                    let index = places[round]
                    let side: CuttableProxy.Side = round % 2 == 0 ? .server : .client
                    let length = side == .server ? passage.server : passage.client
                    let requests = scenario.makeRequests(1)
                    proxy.cut(after: length * index / scenario.size, from: side)
                    try await cell.send(requests)
                    try await eventually("the connection is cut", within: .seconds(60)) { !proxy.isCutting }
                    scenario.countFaults()
                    _ = try await scenario.fleet.events(of: requests.map(\.id), within: .seconds(60))
                }
                // A worker drains until its database has answered, and it reaches it through the proxy alone.
                try await worker.stop()
            }
        }

        private func measure(_ cell: Cell, _ proxy: CuttableProxy) async throws -> Passage {
            let requests = cell.scenario.makeRequests(1)
            let before = Passage(client: proxy.passed(from: .client), server: proxy.passed(from: .server))
            try await cell.send(requests)
            _ = try await cell.scenario.fleet.events(of: requests.map(\.id))
            return Passage(
                client: proxy.passed(from: .client) - before.client,
                server: proxy.passed(from: .server) - before.server
            )
        }
    }
}
