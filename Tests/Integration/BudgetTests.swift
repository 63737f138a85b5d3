// SPDX-License-Identifier: Apache-2.0

import FleetSupport
import Sandbox
import TestSupport
import TestTools
import Testing

extension Endurance {
    @Suite struct Budgets {
        private static let policy = """
            version: "test.1"
            prices: { currency: USD, list: [{ provider: main, price: 0.1 }] }
            tenants:
              default:
                appName: Acme
                regions: { allowlistOnly: { allowedRegions: [US, GB, DE] } }
                limits: { perTenant: [{ count: 100000, per: 1m }] }
                routes: { default: [main] }
                budgets: [{ name: all-day, amount: 12, per: day, reserve: { confirmed: 25 } }]
            """

        @Test func `a fleet whose workers are killed never sends for more than its budget`() async throws {
            try await TestFleet.with(partitions: 4, policy: Self.policy) { fleet in
                fleet.sandbox.add(.delay(.milliseconds(200)), times: -1)
                let settings = ["WORKER_MAX_IN_FLIGHT": "40", "WORKER_BATCH_SIZE": "20"]
                let doomed = try await fleet.startWorker(settings)
                _ = try await fleet.startWorker(settings)
                let requests = Numbers.take(300).map { TestRequest(phoneNumber: $0) }
                try await fleet.send(requests)
                try await eventually("messages are under way") { fleet.sent.count >= 20 }
                try await doomed.crash()
                let events = try await fleet.events(of: requests.map(\.id), within: .seconds(60))
                let answers = Dictionary(grouping: events, by: \.body.requestId).compactMapValues(\.last?.answer)
                let refused = answers.values.count { $0 == Answer("rejected", "budget_exhausted") }
                // 9 of 12 USD are for everybody: 90 messages of 10 cents.
                #expect(fleet.sent.count <= 90 && fleet.sent.count >= 40, "\(fleet.sent.count) messages left")
                #expect(refused >= 210 && refused + fleet.sent.count >= 260)
                let refusal = try #require(events.first { $0.body.reason == "budget_exhausted" })
                #expect(refusal.body.rule == "budget.all-day")

                let login = ["POSTGRES_URL": fleet.logins.operatorURL]
                let status = try await fleet.command(
                    ["budget", "status", "--config", "courier.yaml"],
                    environment: login
                )
                #expect(status.1 == .code(0) && status.0.output.contains("all-day"), "\(status.0.errors)")
                let raise = [
                    "budget", "raise", "all-day", "40", "--config", "courier.yaml", "--for", "1h", "--reason", "test",
                ]
                #expect(try await fleet.command(raise, environment: login).1 == .code(0))
                let before = fleet.sent.count
                try await eventually("the raised amount is in force") {
                    let later = TestRequest(phoneNumber: Numbers.one())
                    try await fleet.send(later)
                    return try await fleet.event(of: later).answer == Answer("sent")
                }
                #expect(fleet.sent.count > before)
            }
        }
    }
}
