// SPDX-License-Identifier: Apache-2.0

import Testing
import Verification

@testable import LogReading

@Suite struct FleetHistoryTests {
    @Test func `Counts of all workers' heartbeats are added up by status, region, provider and reason`() throws {
        let history = try LogSample.history([
            LogSample.Heartbeat(worker: "host-1", repeats: 7).line(10),
            LogSample.Heartbeat(worker: "host-2", repeats: 14).line(12),
            LogSample.Heartbeat(worker: "host-1").line(20),
        ])
        #expect(history.requests == 3000 && history.repeats == 21)
        #expect(history.decisions.sums == ["sent": 2850, "rejected": 120, "unknown": 30])
        #expect(history.regions.rows["GB"]?.sums == ["sent": 1050, "rejected": 30])
        #expect(history.providers.rows["main"]?.sums == ["accepted": 2700, "refused": 12, "notSent": 6])
        #expect(history.rules.ranked.map(\.name) == ["quota_recipient", "region_not_allowed"])
        #expect(history.retries["postgres"] == 6)
        #expect(history.deadLetters == 3)
        #expect(history.workers.mapValues(\.heartbeats) == ["host-1": 2, "host-2": 1])
    }

    @Test func `Money is added up by currency, region and budget, and spread over time`() throws {
        var heartbeat = LogSample.Heartbeat()
        heartbeat.spend =
            #"{"USD":{"amount":"1.50","regions":{"US":"1.25","GB":0.25},"budgets":{"default/day":"1.50"}}}"#
        let history = try LogSample.history([heartbeat.line(15), heartbeat.line(25), LogSample.Heartbeat().line(35)])
        #expect(history.spend.sums == ["USD": 3])
        #expect(history.spendByRegion.sums == ["US, USD": 2.5, "GB, USD": 0.5])
        #expect(history.spendByBudget.sums == ["default/day, USD": 3])
        #expect(history.timeline.buckets.map { $0.spend["USD"] ?? 0 } == [0.75, 1.5, 0.75, 0])
    }

    @Test func `A heartbeat's counts are spread over the time that it tells of`() throws {
        let history = try LogSample.history([LogSample.Heartbeat().line(15), LogSample.Heartbeat().line(25)])
        let timeline = history.timeline
        #expect(timeline.origin == LogSample.time(0))
        #expect(timeline.buckets.map(\.requests) == [500, 1000, 500])
        #expect(timeline.buckets.indices.map { timeline.seconds(of: $0) } == [5, 10, 5])
    }

    @Test func `The seconds of a piece are those that any worker told of, however many did`() throws {
        let history = try LogSample.history([
            LogSample.Heartbeat(worker: "host-1").line(15), LogSample.Heartbeat(worker: "host-2").line(18),
            LogSample.Heartbeat(worker: "host-1").line(64),
        ])
        let timeline = history.timeline
        #expect(timeline.buckets.indices.map { timeline.seconds(of: $0) } == [5, 8, 0, 0, 0, 6, 4])
    }

    @Test func `Times that touch are one, in whatever order they come`() {
        var coverage = Coverage()
        for (from, to) in [(20.0, 30.0), (0, 10), (50, 60), (52, 54), (8, 22), (60.01, 70)] {
            coverage.add(LogSample.time(from)..<LogSample.time(to))
        }
        #expect(
            coverage.ranges == [
                LogSample.time(0)..<LogSample.time(30), LogSample.time(50)..<LogSample.time(70),
            ]
        )
        #expect(coverage.seconds(in: LogSample.time(25)..<LogSample.time(55)) == 10)
    }

    @Test func `Of any number of gaps few are kept, and they are the longest`() {
        var coverage = Coverage()
        for index in 0..<3000 {
            let start = Double(index) * 10
            coverage.add(LogSample.time(start)..<LogSample.time(start + 1))
        }
        let last = LogSample.time(100_000)..<LogSample.time(100_001)
        coverage.add(last)
        #expect(coverage.ranges.count <= Coverage.most && coverage.ranges.last == last)
        #expect(coverage.seconds(in: LogSample.time(30_000)..<LogSample.time(100_000)) == 0)
    }

    @Test func `A log of weeks is kept in as many pieces as one of hours, and nothing of it is lost`() throws {
        var history = FleetHistory()
        let count = 20_000
        for index in 1...count {
            history.add(try LogSample.entry(LogSample.Heartbeat().line(Double(index) * 60)), from: "worker.log")
        }
        let timeline = history.timeline
        #expect((TimeBuckets.most / 2...TimeBuckets.most).contains(timeline.buckets.count))
        #expect(abs(timeline.buckets.reduce(0) { $0 + $1.requests } - Double(count) * 1000) < 1)
        #expect(timeline.end == LogSample.time(Double(count) * 60))
    }

    @Test func `Logs that come one after the other make the charts of logs that are merged`() throws {
        let first = stride(from: 1000.0, through: 1100, by: 10).map { LogSample.Heartbeat(worker: "host-1").line($0) }
        let second = stride(from: 510.0, through: 1100, by: 10).map { LogSample.Heartbeat(worker: "host-2").line($0) }
        let timeline = try LogSample.history(first + second).timeline
        #expect(timeline.origin == LogSample.time(500) && timeline.end == LogSample.time(1100))
        #expect(timeline.width == 10_000_000)
        #expect(timeline.buckets.map(\.requests) == (0..<60).map { $0 < 49 ? 1000 : 2000 })
        #expect(timeline.buckets.indices.allSatisfy { timeline.seconds(of: $0) == 10 })
    }

    @Test func `However much earlier a log that comes later is, pieces are few and nothing is lost`() throws {
        let hours = [0.0, 1, -1, -30, -20_000, 400, 399.5, -49_000]
        let history = try LogSample.history(hours.map { LogSample.Heartbeat().line($0 * 3600) })
        let timeline = history.timeline
        #expect((TimeBuckets.most / 2...TimeBuckets.most).contains(timeline.buckets.count))
        #expect(timeline.origin < LogSample.time(-49_000 * 3600) && timeline.end == LogSample.time(400 * 3600))
        #expect(abs(timeline.buckets.reduce(0) { $0 + $1.requests } - 8000) < 0.001)
        #expect(abs((timeline.buckets.first?.requests ?? 0) - 1000) < 0.001)
    }

    @Test func `The lag is the sum of what was last said of each partition, whoever said it`() throws {
        var first = LogSample.Heartbeat(worker: "host-1")
        var second = LogSample.Heartbeat(worker: "host-2")
        first.lag = #"{"0":10,"1":20}"#
        second.lag = #"{"1":5}"#
        let history = try LogSample.history([first.line(10), second.line(20)])
        #expect(history.timeline.buckets.map(\.lag) == [30, 15])
    }

    @Test func `A partition that its worker tells of no more is behind no more`() throws {
        let lags = [#"{"0":10,"1":20}"#, #"{"0":10}"#, "{}"]
        let lines = lags.enumerated().map { index, lag in
            var heartbeat = LogSample.Heartbeat()
            heartbeat.lag = lag
            return heartbeat.line(Double(index + 1) * 10)
        }
        #expect(try LogSample.history(lines).timeline.buckets.map(\.lag) == [30, 10, nil])
        var other = LogSample.Heartbeat(worker: "host-2")
        other.lag = #"{"1":5}"#
        #expect(try LogSample.history([lines[0], other.line(15), lines[1]]).timeline.buckets.map(\.lag) == [30, 15])
    }

    @Test func `What one log says of a later time is no part of another log's lag`() throws {
        var early = LogSample.Heartbeat(worker: "host-2")
        early.lag = #"{"5":7}"#
        let history = try LogSample.history([LogSample.Heartbeat().line(30), early.line(10), early.line(30)])
        #expect(history.timeline.buckets.map(\.lag) == [7, nil, 13])
    }

    @Test func `Middle percentiles are weighted means, and the 99th is the worst interval's`() throws {
        let fast = WorkerStats.Latency(count: 300, p50: 10, p90: 20, p99: 30, max: 40)
        let slow = WorkerStats.Latency(count: 100, p50: 40, p90: 80, p99: 300, max: 900)
        let both = LatencySummary(fast).merged(with: LatencySummary(slow))
        #expect(both.p50 == 17.5 && both.p90 == 35 && both.p99 == 300 && both.max == 900)
    }

    @Test func `A stage weighs by its own durations and not by the requests that were read`() throws {
        var busy = LogSample.Heartbeat()
        busy.latency = #"{"count":25,"p50":10,"p90":10,"p99":10,"max":10}"#
        // The backlog is sent, and no more requests are read.
        var sending = LogSample.Heartbeat(requests: 0)
        sending.latency = #"{"count":74,"p50":110,"p90":110,"p99":110,"max":110}"#
        var older = LogSample.Heartbeat()
        older.latency = #"{"p50":10,"p90":10,"p99":10,"max":10}"#
        let lines = [busy.line(10), sending.line(20), older.line(30)]
        #expect(try LogSample.history(lines).latencies["request_to_provider"]?.p50 == 84)
        var now = FleetNow()
        for line in lines { now.add(try LogSample.entry(line)) }
        #expect(now.latencies(at: LogSample.time(30))["request_to_provider"]?.p50 == 84)
    }

    @Test func `Stages stand in one order, the whole ways first and strangers last`() {
        let stages = LatencySummary.ordered(["a_new_one", "publish", "provider", "request_to_event"])
        #expect(stages == ["request_to_event", "provider", "publish", "a_new_one"])
    }

    @Test func `A pause lasts from the line that begins it to the line that ends it`() throws {
        let history = try LogSample.history([
            LogSample.Heartbeat().line(10),
            LogSample.line(11, "provider.paused", severity: "warning", #""worker.id":"host-1","provider":"main""#),
            LogSample.Heartbeat(breaker: "open").line(20),
            LogSample.line(23, "provider.resumed", #""worker.id":"host-1","provider":"main""#),
            LogSample.Heartbeat().line(30),
        ])
        #expect(history.pauses.pauses.map(\.from) == [LogSample.time(11)])
        #expect(history.pauses.pauses.map(\.to) == [LogSample.time(23)])
        #expect(history.pauses.pauses.map(\.worker) == ["host-1"])
    }

    private func provider(_ seconds: Double, _ event: String, _ worker: String) -> String {
        LogSample.line(
            seconds,
            "provider.\(event)",
            severity: event == "paused" ? "warning" : "notice",
            #""worker.id":"\#(worker)","provider":"main","error_code":"timeout""#
        )
    }

    private func history(_ lines: [String]) throws -> [IncidentHistory.Incident] {
        try LogSample.history(lines).incidents.incidents
    }

    @Test func `An incident lasts from the first worker's failure to the last one's recovery`() throws {
        let failing = LogSample.line(
            50,
            "postgres.failing",
            severity: "error",
            #""worker.id":"host-1","stage":"sweep""#
        )
        let incidents = try history([
            provider(11, "paused", "host-1"), provider(12, "paused", "host-2"), provider(20, "resumed", "host-1"),
            provider(30, "resumed", "host-2"), provider(40, "paused", "host-1"), provider(45, "resumed", "host-1"),
            failing, LogSample.Heartbeat(worker: "host-1").line(60), provider(85, "paused", "host-2"),
        ])
        #expect(incidents.map(\.event) == ["provider.paused", "postgres.failing", "provider.paused"])
        #expect(incidents.map(\.from) == [11, 50, 85].map(LogSample.time))
        #expect(incidents.map(\.to) == [LogSample.time(45), nil, nil], "a short calm does not end it")
        #expect(incidents.map(\.workers.count) == [2, 1, 1])
        #expect(incidents.first?.detail == "provider=main error_code=timeout")
    }

    @Test func `An incident of a worker that is gone ends with its last line`() throws {
        let unreachable = LogSample.line(5, "kafka.unreachable", severity: "error", #""worker.id":"host-3""#)
        let stop = LogSample.line(14, "worker.stopped", #""worker.id":"host-1""#)
        let incidents = try history([
            unreachable, provider(11, "paused", "host-1"), stop, LogSample.Heartbeat(worker: "host-2").line(100),
        ])
        #expect(incidents.map(\.to) == [LogSample.time(5), LogSample.time(14)])
    }

    @Test func `A worker without successor is a gap until the end of the log`() throws {
        let others = stride(from: 10.0, through: 200, by: 10).map { LogSample.Heartbeat(worker: "b-1").line($0) }
        let lines = [
            LogSample.Heartbeat(worker: "a-1").line(10),
            LogSample.line(21, "worker.stopped", #""worker.id":"a-1""#),
            LogSample.line(81, "worker.started", #""worker.id":"a-2""#),
            LogSample.Heartbeat(worker: "a-2").line(91),
            LogSample.Heartbeat(worker: "c-1").line(180),
        ]
        let incidents = try history(lines + others)
        #expect(incidents.map(\.event) == ["worker.stopped", "worker.silent"])
        #expect(incidents.map(\.workers) == [["a-1"], ["a-2"]])
        #expect(incidents.map(\.from) == [LogSample.time(21), LogSample.time(91)])
        #expect(incidents.map(\.to) == [LogSample.time(81), nil])
    }

    @Test func `Heartbeats alone tell of a pause, and what is open at the end lasts until the worker's last line`()
        throws
    {
        let history = try LogSample.history([
            LogSample.Heartbeat(breaker: "open").line(10), LogSample.Heartbeat(breaker: "half_open").line(20),
            LogSample.Heartbeat(breaker: "half_open").line(30), LogSample.Heartbeat(breaker: "open").line(40),
            LogSample.Heartbeat(worker: "host-2").line(100),
        ])
        let pauses = history.pauses.pauses
        #expect(pauses.map(\.from) == [LogSample.time(10), LogSample.time(40)])
        #expect(pauses.map(\.to) == [LogSample.time(20), LogSample.time(40)])
    }

    @Test func `Missing heartbeats are gaps, one late heartbeat is not`() throws {
        let history = try LogSample.history([10, 20, 45, 200].map { LogSample.Heartbeat().line($0) })
        #expect(history.workers["host-1"]?.gaps == [.init(from: LogSample.time(45), to: LogSample.time(200))])
    }

    @Test func `A worker that is started anew under its name goes on`() throws {
        let stop = LogSample.line(12, "worker.stopped", severity: "notice", #""worker.id":"host-1""#)
        let start = LogSample.line(14, "worker.started", severity: "notice", #""worker.id":"host-1""#)
        let lines = [LogSample.Heartbeat().line(10), stop]
        #expect(try LogSample.history(lines).workers["host-1"]?.hasStopped == true)
        for next in [start, LogSample.Heartbeat().line(24)] {
            #expect(try LogSample.history(lines + [next]).workers["host-1"]?.hasStopped == false)
        }
        let again = LogSample.line(30, "worker.drain_timeout", severity: "error", #""worker.id":"host-1""#)
        #expect(try LogSample.history(lines + [start, again]).workers["host-1"]?.hasStopped == true)
    }

    @Test func `Of lines that say the same the earliest and the latest are told, in whatever order they come`() throws {
        let lines = [20, 30, 5, 10].map { LogSample.line($0, "kafka.unreachable", severity: "error") }
        let problems = try LogSample.history(lines).problems.values
        #expect(problems.map(\.first) == [LogSample.time(5)])
        #expect(problems.map(\.last) == [LogSample.time(30)])
    }

    @Test func `Warnings and errors are counted by what they say, with those that were held back`() throws {
        let failing = #""stage":"intake","sqlstate":"57P01""#
        let history = try LogSample.history([
            LogSample.line(1, "postgres.failing", severity: "error", failing),
            LogSample.line(2, "postgres.failing", severity: "error", failing),
            LogSample.line(3, "log.suppressed", #""log.event":"postgres.failing","suppressed":40"#),
            LogSample.line(4, "worker.started", severity: "notice"),
        ])
        let counts = Dictionary(uniqueKeysWithValues: history.problems.map { ($0.key.event, $0.value.count) })
        #expect(counts == ["postgres.failing": 2, "log.suppressed": 40])
        #expect(history.problems.keys.contains { $0.detail == "stage=intake sqlstate=57P01" })
    }

    @Test func `Unknown events are counted, and of a pause without its worker only heartbeats tell`() throws {
        let history = try LogSample.history([
            LogSample.Heartbeat().line(10), LogSample.line(11, "worker.danced"),
            LogSample.line(12, "provider.paused", #""provider":"main""#),
            LogSample.line(13, "provider.paused", #""provider":"backup""#),
            LogSample.Heartbeat(breaker: "open").line(20),
            LogSample.line(22, "provider.resumed", #""provider":"main""#),
            LogSample.Heartbeat().line(30),
        ])
        #expect(history.events["worker.danced"] == 1)
        #expect(
            history.pauses.pauses == [
                .init(provider: "main", worker: "host-1", from: LogSample.time(20), to: LogSample.time(30))
            ]
        )
    }

    @Test func `However many names a log invents, memory is bounded and the sums are right`() throws {
        var history = FleetHistory()
        for index in 0..<3000 {
            var heartbeat = LogSample.Heartbeat(worker: "host-\(index)")
            heartbeat.regions = #"{"R\#(index)":{"sent":1}}"#
            heartbeat.decisions = #"{"status\#(index)":1}"#
            heartbeat.rules = #"{"rule\#(index)":1}"#
            heartbeat.providerName = "provider\(index)"
            heartbeat.lag = #"{"\#(index)":1}"#
            history.add(try LogSample.entry(heartbeat.line(Double(index))), from: "worker.log")
            let line = LogSample.line(Double(index), "event\(index)", severity: "error", #""reason":"\#(index)""#)
            history.add(try LogSample.entry(line), from: "worker.log")
        }
        history.finish()
        #expect(
            history.workers.count <= 2001 && history.regions.rows.count <= 61 && history.decisions.sums.count <= 201
        )
        #expect(history.providers.rows.count <= 61 && history.problems.count <= 501 && history.events.sums.count <= 201)
        #expect(history.timeline.buckets.allSatisfy { $0.decisions.count <= 201 })
        #expect(history.decisions.total == 3000 && history.rules.total == 3000)
        #expect(history.problems.values.reduce(0) { $0 + $1.count } == 3000)
    }

    @Test func `Figures beyond all measure are taken without a trap`() async throws {
        var heartbeat = LogSample.Heartbeat(requests: Int.max)
        heartbeat.decisions = #"{"sent":1e308,"rejected":-1,"unknown":9223372036854775807}"#
        let wide = LogSample.line(
            40,
            "worker.stats",
            #""worker.id":"w","interval_ms":1e308,"uptime_ms":1e308,"cpu_ms":1e300,"rss_bytes":1e308"#
        )
        let none = LogSample.line(41, "worker.stats", #""worker.id":"w","interval_ms":0"#)
        let early = LogSample.Heartbeat().line(-86_400)
        let late = LogSample.Heartbeat().line(2_000_000_000)
        let history = try LogSample.history([heartbeat.line(10), wide, none, early, late])
        #expect(history.timeline.buckets.count <= TimeBuckets.most)
        let page = try await drawn(ReportPage(history, tally: LineTally(), sources: ["x"]).html)
        #expect(page.contains("<h2>Lines</h2>"))
        #expect(!page.contains("NaN") && !page.contains("Infinity") && !page.contains("undefined"))
    }
}
