// SPDX-License-Identifier: Apache-2.0

import FleetSupport
import Formats
import Logs
import TestTools
import Testing
import Verification

extension Calls {
    @Suite struct PastTheirTime {
        @Test func `requests past their time are answered and never sent`() async throws {
            let plan = Scenario.Plan(partitions: 6, settings: ["WORKER_MAX_REQUEST_AGE": "4s"])
            try await Scenario.run("late", quick: 1500, full: 10_000, plan: plan) { scenario in
                let (now, hour) = (Timestamp.now, Duration.seconds(3600))
                let third = scenario.size / 3
                let old = scenario.makeRequests(third, more: #","requestedAt":"\#((now - hour).rfc3339)""#)
                let late = scenario.makeRequests(third, more: #","deadline":"\#(now.rfc3339)""#)
                let waiting = scenario.makeRequests(scenario.size - 2 * third)
                try await scenario.send(old + late + waiting, areRefused: true)
                scenario.countFaults(scenario.size)
                // No worker runs while the requests become too old.
                try await Task.sleep(for: .seconds(5))
                let start = ContinuousClock.now
                for _ in 0..<2 { try await scenario.startWorker() }
                let ids = (old + late + waiting).map(\.id)
                let events = try await scenario.fleet.events(of: ids, within: .seconds(120))
                scenario.note("records_per_second", Double(ids.count) / ((ContinuousClock.now - start) / .seconds(1)))
                #expect(events.count { $0.body.status == "expired_unsent" } == scenario.size)
                let neighbours = scenario.makeRequests(20)
                try await scenario.send(neighbours)
                #expect(try await scenario.fleet.sentEvents(of: neighbours) == 20)
            }
        }

        @Test func `old history is read again and nothing of it is sent`() async throws {
            let plan = Scenario.Plan(partitions: 12)
            for _ in 0..<(Campaign.isFull ? 10 : 1) {
                try await Scenario.run("replay", quick: 2000, full: 100_000, plan: plan) { scenario in
                    let time = (Timestamp.now - .seconds(86_400)).rfc3339
                    for _ in 0..<2 { try await scenario.startWorker() }
                    // The mock cluster keeps about 5 MiB per partition.
                    let portion = 20_000
                    let start = ContinuousClock.now
                    for sent in stride(from: 0, to: scenario.size, by: portion) {
                        let count = min(portion, scenario.size - sent)
                        let requests = scenario.makeRequests(count, more: #","requestedAt":"\#(time)""#)
                        try await scenario.send(requests, areRefused: true)
                        _ = try await scenario.fleet.events(of: requests.map(\.id), within: .seconds(300))
                        scenario.countFaults(count)
                    }
                    let seconds = (ContinuousClock.now - start) / .seconds(1)
                    scenario.note("records_per_second", Double(scenario.size) / seconds)
                    #expect(scenario.fleet.sent.isEmpty)
                }
            }
        }

        /// Rereads a topic that is already decided, as after lost offsets.
        @Test func `offsets begin again over a topic that is decided`() async throws {
            let plan = Scenario.Plan(lease: .seconds(30), callDeadline: .seconds(10))
            try await Scenario.run("offsets_reset", quick: 500, full: 20_000, plan: plan) { scenario in
                let first = try await scenario.startWorker()
                let requests = scenario.makeRequests(scenario.size)
                try await scenario.send(requests)
                _ = try await scenario.fleet.events(of: requests.map(\.id), within: .seconds(300))
                try await first.stop()
                let (calls, events) = (scenario.fleet.sent.count, try await scenario.fleet.allEvents().count)

                try await scenario.startWorker(ofNewGroup: uniqueName("group-"))
                scenario.countFaults()
                // These requests are the last records, one per partition, behind all repeated ones.
                let last = scenario.makeRequests(scenario.plan.partitions)
                try await scenario.send(
                    last.enumerated().map { index, request in
                        var record = request.binary
                        record.partition = Int32(index)
                        return (request: request, record: record)
                    }
                )
                #expect(try await scenario.fleet.sentEvents(of: last) == last.count)
                #expect(scenario.fleet.sent.count == calls + last.count)
                #expect(try await scenario.fleet.allEvents().count == events + last.count)
            }
        }
    }
}

extension TestFleet {
    /// Number of requests that were sent, once all are answered.
    func sentEvents(of requests: [TestRequest], within limit: Duration = .seconds(60)) async throws -> Int {
        try await events(of: requests.map(\.id), within: limit).count { $0.body.status == "sent" }
    }
}

extension Scenario {
    /// Requests with additional members, each after a comma.
    func makeRequests(_ count: Int, more: String) -> [TestRequest] {
        Numbers.take(count).map { TestRequest(phoneNumber: $0, more: more) }
    }
}
