// SPDX-License-Identifier: Apache-2.0

import Formats
import Logging
import Logs
import TestSupport
import TestTools
import Testing
import Verification

@testable import Courier

@Suite(.timeLimit(.minutes(5))) struct StatisticsTests {
    private static let numbers = (0..<20).map { "+491512345\(1000 + $0)" }

    @Test func `an interval tells what the worker read, decided, called and published`() async throws {
        let journal = Journal()
        let first = MemoryProvider("first", journal: journal) { _ in ProviderAnswer(.refused, errorCode: "21211") }
        let second = MemoryProvider("second", journal: journal)
        let statistics = Statistics()
        let germany = try #require(Region("DE"))
        try await MemoryWorker.with([first, second], journal: journal, statistics: statistics) { worker in
            worker.source.add(Self.numbers)
            worker.source.add(records: [.nonsense])
            try await worker.settle(events: 21)
        }
        let total = statistics.take()
        #expect(total.requests == 21)
        #expect(total.decisions == [.sent: 20])
        #expect(total.regions == [germany: [.sent: 20]])
        #expect(total.providers == ["first": [.refused: 20], "second": [.accepted: 20]])
        #expect(total.deadLetters == 1)
        #expect(total.failures == [:])
        #expect(Set(total.latencies.keys) == Set(Latency.allCases))
        #expect(total.latencies[.intake]?.count == 21 && total.latencies[.provider]?.count == 40)
        let whole = try #require(total.latencies[.requestToEvent])
        #expect(whole.median > 0 && whole.median <= whole.ninetieth && whole.ninetyNinth <= whole.highest)
        let next = statistics.take()
        #expect(next.requests == 0 && next.decisions.isEmpty && next.latencies.isEmpty)
    }

    @Test func `an answer that is told once more is no other outcome`() {
        let statistics = Statistics()
        let events = ["timeout", "duplicate_request", "duplicate_request"].map { reason in
            let event = #"{"status":"unknown","reason":"\#(reason)"}"#
            return OutboxRecord(
                stream: UUIDValue(1),
                sequence: 1,
                isDeadLetter: false,
                key: nil,
                value: Array(event.utf8),
                headers: []
            )
        }
        statistics.notePublished(events, since: .now, at: .now)
        let total = statistics.take()
        #expect(total.decisions == [.unknown: 1])
        #expect(total.repeats == 2)
    }

    @Test func `failures of the database and of the broker are counted, those that are tried again too`() async throws {
        let statistics = Statistics()
        try await MemoryWorker.with(statistics: statistics) { worker in
            worker.ledger.fail(.intake, [.refused, .refused, .answerLost])
            worker.sink.fail(1)
            worker.source.add(Array(Self.numbers[..<3]))
            try await worker.settle(events: 3)
        }
        let failures = statistics.take().failures
        #expect(failures[.postgres] == 3)
        #expect((failures[.kafka] ?? 0) >= 1)
    }

    @Test func `a line is written in each interval and at the end`() async throws {
        let log = LogRecord(level: .info)
        try await MemoryWorker.with(log: log, isReporting: true) { worker in
            worker.source.add([Self.numbers[0]])
            try await worker.settle(events: 1)
            try await eventually("two intervals are over") { log.lines(.workerStats).count >= 2 }
        }
        let lines = log.lines(.workerStats)
        let expected = Set(LoggedEvent.workerStats.fields.map(\.rawValue))
        #expect(Set(try #require(lines.first).fields.keys) == expected)
        // The last line is written at shutdown, without a query of the database.
        #expect(Set(try #require(lines.last).fields.keys) == expected.subtracting(Self.ofDatabase))
        let requests = lines.compactMap { line -> Int64? in
            guard case .integer(let count)? = line.fields["requests"] else { return nil }
            return count
        }
        #expect(requests.reduce(0, +) == 1)
        let fields = try #require(lines.first?.fields)
        #expect(fields["lag"] == .object([LogMember("0", 7)]))
        #expect(fields["oldest_unread_ms"] == 3000)
        #expect(fields["topic_faults"] == .object([]))
        #expect(fields["max_in_flight"] == 1024)
        #expect(fields["due_sends"] == 0)
        #expect(
            lines.contains { $0.fields["providers"] == Self.provider("main", accepted: 1) }
        )
    }

    private static func provider(_ name: String, accepted: Int64) -> LogValue {
        .object([
            LogMember(
                name,
                .object([
                    LogMember("accepted", .integer(accepted)), LogMember("breaker", "closed"),
                    LogMember("score", .integer(Int64(HealthScore.highest))),
                ])
            )
        ])
    }

    @Test func `of very many regions the busiest stand alone`() throws {
        var counts = Statistics.Interval()
        let letters = Array("ABCDEFGH")
        for (place, pair) in letters.flatMap({ first in letters.map { "\(first)\($0)" } }).enumerated() {
            counts.regions[try #require(Region(pair))] = [.sent: place + 1]
        }
        let line = Self.line(counts, lag: Dictionary(uniqueKeysWithValues: (0..<1000).map { (Int32($0), Int64($0)) }))
        guard case .object(let regions)? = line.fields[.regions], case .object(let lag)? = line.fields[.lag] else {
            Issue.record("no objects")
            return
        }
        #expect(regions.count == 31)
        #expect(regions.first == LogMember("HH", .object([LogMember("sent", 64)])))
        #expect(regions.last == LogMember("other", .object([LogMember("sent", .integer((1...34).reduce(0, +)))])))
        #expect(lag.count == 128)
        #expect(lag.last == LogMember("999", 999))
    }

    @Test func `the greatest amounts of money stand alone, and all are in the sum`() throws {
        var spend = Statistics.Spend(amount: Money(micros: 3_000_000))
        for place in 1...32 {
            spend.budgets[BudgetKey(tenant: "a", name: "b\(place)")] = Money(micros: Int64(place) * 10_000)
        }
        var counts = Statistics.Interval()
        counts.spend["EUR"] = spend
        guard case .object(let currencies)? = Self.line(counts).fields[.spend], currencies.first?.name == "EUR",
            case .object(let members)? = currencies.first?.value, case .object(let budgets)? = members.last?.value
        else {
            Issue.record("no amounts")
            return
        }
        #expect(members.map(\.name) == ["amount", "regions", "budgets"] && members[0].value == "3.00")
        #expect(budgets.count == 31)
        #expect(budgets.first == LogMember("a/b32", "0.32") && budgets.last == LogMember("other", "0.03"))
    }

    @Test func `a stage's durations are told with their number`() {
        var counts = Statistics.Interval()
        counts.latencies[.publish] = LatencyPercentiles(
            count: 7,
            median: 1,
            ninetieth: 2,
            ninetyNinth: 3,
            highest: 4
        )
        let percentiles = LogValue.object([
            LogMember("count", 7), LogMember("p50", .number(1)), LogMember("p90", .number(2)),
            LogMember("p99", .number(3)), LogMember("max", .number(4)),
        ])
        #expect(Self.line(counts).fields[.latency] == .object([LogMember("publish", percentiles)]))
    }

    /// The gauges of the whole fleet, from the database.
    private static let ofDatabase: Set = ["due_sends", "outbox", "oldest_snapshot_ms"]

    @Test func `a gauge that the worker cannot know is left out`() {
        let known = Set(Self.line(.init(), lag: [0: 1], backlog: Backlog(dueSends: 1, outbox: 2)).names)
        #expect(known == Set(LoggedEvent.workerStats.fields.map(\.rawValue)))
        #expect(known.subtracting(Self.line(.init(), lag: [0: 1]).names) == Self.ofDatabase)
        #expect(known.subtracting(Self.line(.init()).names) == Self.ofDatabase.union(["oldest_unread_ms"]))
    }

    @Test(arguments: [ProviderHealth.Availability.ready, .probe, .paused(for: .seconds(1))])
    func `a provider has its score only while its circuit is closed`(availability: ProviderHealth.Availability) {
        let state = ProviderHealth.State(points: 90, availability: availability)
        guard case .object(let providers)? = Self.line(.init(), providers: ["main": state]).fields[.providers],
            case .object(let members)? = providers.first?.value
        else {
            Issue.record("no provider")
            return
        }
        #expect(members.contains(LogMember("score", availability == .ready ? 90 : 0)))
    }

    private static func line(
        _ counts: Statistics.Interval,
        lag: [Int32: Int64] = [:],
        backlog: Backlog? = nil,
        providers: [String: ProviderHealth.State] = [:]
    ) -> StatisticsLine {
        StatisticsLine(
            interval: .seconds(10),
            uptime: .seconds(10),
            counts: counts,
            load: Load(inFlight: 0, maxInFlight: 1, providers: providers),
            backlog: backlog,
            lag: Lag(records: lag),
            processorTime: .zero
        )
    }

    @Test func `an event of another worker is counted by what it says`() throws {
        let statistics = Statistics()
        let value = #"{"status":"rejected","reason":"quota_ip","recipient":{"region":"FR"}}"#
        let sent = #"{"status":"sent","recipient":{"region":"FR"},"cost":{"amount":"0.0750","currency":"EUR"}}"#
        let records = [value, sent].map { value in
            OutboxRecord(
                stream: UUIDValue(1),
                sequence: 1,
                isDeadLetter: false,
                key: nil,
                value: Array(value.utf8),
                headers: []
            )
        }
        statistics.notePublished(records, since: .now, at: .now)
        let interval = statistics.take()
        let france = try #require(Region("FR"))
        #expect(interval.decisions == [.rejected: 1, .sent: 1])
        #expect(interval.refusals == ["quota_ip": 1])
        #expect(interval.regions == [france: [.rejected: 1, .sent: 1]])
        let price = Money(micros: 75_000)
        #expect(interval.spend == ["EUR": Statistics.Spend(amount: price, regions: [france: price])])
    }
}

extension StatisticsLine {
    fileprivate var names: [String] { fields.keys.map(\.rawValue) }
}

extension InboundRecord {
    /// A record that is not a valid request.
    fileprivate static let nonsense = InboundRecord(
        topic: "verification.requests",
        partition: 0,
        offset: 1_000_000,
        timestamp: .now,
        key: nil,
        value: [0xff],
        headers: []
    )
}
