// SPDX-License-Identifier: Apache-2.0

import Administration
import FleetSupport
import Sandbox
import TestSupport
import TestTools
import Testing

extension Endurance {
    @Suite struct DatabaseLoss {
        @Test func `while the database is away nothing is lost, and the log tells it once`() async throws {
            try await TestFleet.with { fleet in
                try await CuttableProxy.with(to: fleet.logins.workerURL) { proxy in
                    let worker = try await fleet.startWorker(["POSTGRES_URL": proxy.url])
                    fleet.sandbox.add(.delay(.seconds(1)), times: 10)
                    let underWay = Numbers.take(10).map { TestRequest(phoneNumber: $0) }
                    try await fleet.send(underWay)
                    try await eventually("ten calls are under way") { fleet.sent.count == 10 }
                    proxy.goAway()

                    let meanwhile = Numbers.take(20).map { TestRequest(phoneNumber: $0) }
                    try await fleet.send(meanwhile)
                    try await worker.waitForLog("postgres.failing")
                    // Time for the calls to end and for many connection attempts to fail.
                    try await Task.sleep(for: .seconds(3))
                    #expect(!worker.logged.contains("postgres.recovered"))
                    proxy.comeBack()
                    try await worker.waitForLog("postgres.recovered")

                    let requests = underWay + meanwhile
                    _ = try await fleet.events(of: requests.map(\.id))
                    let events = try await fleet.allEvents(after: .seconds(2))
                    #expect(events.map(\.answer) == [Answer](repeating: Answer("sent"), count: 30))
                    #expect(fleet.sent.count == 30)
                    for event in events {
                        let request = try #require(requests.first { $0.id == event.body.requestId })
                        let code = try #require(fleet.messages[request.phoneNumber]?.first?.code)
                        #expect(try await fleet.check(code, event) == .approved)
                    }
                    #expect(worker.logged.count { $0 == "postgres.failing" } == 1)
                    #expect(worker.logged.count { $0 == "postgres.recovered" } == 1)
                    try await worker.stop()
                }
            }
        }
    }
}
