// SPDX-License-Identifier: Apache-2.0

import Formats
import TestTools
import Testing
import Verification

@testable import LogReading

@Suite struct LogEntryTests {
    @Test func `A line in format json is read with its time, severity, event, worker and fields`() throws {
        let entry = try LogSample.entry(
            LogSample.line(1.5, "provider.paused", severity: "warning", #""provider":"main","worker.id":"host-1""#)
        )
        #expect(entry.time == LogSample.time(1.5))
        #expect(entry.severity == .warning)
        #expect(entry.event == "provider.paused")
        #expect(entry.worker == "host-1")
        #expect(entry.fields.text("provider") == "main")
    }

    @Test func `A name that is too long is cut, in letters that a terminal has`() throws {
        let entry = try LogSample.entry(LogSample.line(0, String(repeating: "e", count: 65)))
        #expect(entry.event == String(repeating: "e", count: 61) + "...")
        #expect(try LogSample.entry(LogSample.line(0, entry.event)).event == entry.event)
    }

    @Test func `A heartbeat in OTLP's wrapping says the same as a flat one`() throws {
        let entry = try LogSample.entry(
            """
            {"resourceLogs":[{"resource":{"attributes":[{"key":"service.instance.id","value":{"stringValue":"host-7"}}]},\
            "scopeLogs":[{"logRecords":[{"timeUnixNano":"1795176001500000000","severityNumber":13,"severityText":"WARNING",\
            "eventName":"worker.stats","body":{"stringValue":"words"},"attributes":[\
            {"key":"requests","value":{"intValue":"1000"}},\
            {"key":"latency_ms","value":{"kvlistValue":{"values":[{"key":"intake","value":{"kvlistValue":{"values":[\
            {"key":"p50","value":{"doubleValue":4.5}},{"key":"p90","value":{"intValue":"9"}},\
            {"key":"p99","value":{"intValue":"31"}},{"key":"max","value":{"doubleValue":80.2}}]}}}]}}}]}]}]}]}
            """
        )
        #expect(entry.time == LogSample.time(1.5))
        #expect(entry.severity == .warning)
        #expect(entry.worker == "host-7")
        let stats = try #require(WorkerStats(entry))
        #expect(stats.requests == 1000)
        #expect(stats.latencies["intake"] == .init(count: 1, p50: 4.5, p90: 9, p99: 31, max: 80.2))
    }

    @Test func `A bare OpenTelemetry record with its attributes as an object is read as well`() throws {
        let entry = try LogSample.entry(
            #"{"timeUnixNano":1795176001500000000,"severityText":"ERROR","attributes":{"event.name":"postgres.failing","stage":"intake"}}"#
        )
        #expect(entry.event == "postgres.failing")
        #expect(entry.severity == .error)
        #expect(entry.fields.text("stage") == "intake")
    }

    @Test(arguments: [
        "worker-1  | ", "2026-11-20T12:00:00.1Z stdout F ", "[pod/courier-1/courier] ",
        "Nov 20 12:00:00 host courier[7]: ",
    ])
    func `What a collector writes before a line is skipped`(prefix: String) throws {
        #expect(try LogSample.entry(prefix + LogSample.line(0, "worker.started")).event == "worker.started")
    }

    @Test(arguments: [
        "", "words", "{", "{}", "[]", #"{"timestamp":"yesterday","event":"worker.stats"}"#, #"{"timestamp":7}"#,
        #"{"timestamp":"1970-01-01T00:00:00Z"}"#, #"{"timestamp":"9999-01-01T00:00:00Z"}"#, #"{"timeUnixNano":"x"}"#,
        #"{"timeUnixNano":-9223372036854775808}"#, #"{"resourceLogs":[]}"#,
        #"{"resourceLogs":[{"scopeLogs":[{},{}]}]}"#,
        #"12:00:00.000 INFO worker.started: worker started librdkafka=2.0.2"#,
    ])
    func `A line without a believable time is no entry`(line: String) {
        #expect(LogEntry(Array(line.utf8)) == nil)
    }

    @Test func `A heartbeat's figures are read by their names`() throws {
        var heartbeat = LogSample.Heartbeat()
        heartbeat.breaker = "half_open"
        heartbeat.repeats = 7
        let stats = try LogSample.stats(heartbeat.line(10))
        #expect(stats.interval == .seconds(10))
        #expect(stats.uptime == .seconds(600))
        #expect(stats.requests == 1000 && stats.repeats == 7)
        #expect(stats.decisions == ["sent": 950, "rejected": 40, "unknown": 10])
        #expect(stats.regions["GB"] == ["sent": 350, "rejected": 10])
        #expect(stats.providers["main"]?.outcomes == ["accepted": 900, "refused": 4, "notSent": 2])
        #expect(stats.providers["main"]?.isPaused == false && stats.providers["main"]?.isProbed == true)
        #expect(stats.providers["main"]?.score == 90)
        #expect(stats.rules == ["quota_recipient": 30, "region_not_allowed": 10])
        #expect(stats.lag == ["0": 4, "1": 2])
        #expect(stats.errors == ["postgres": 2, "kafka": 0])
        #expect(stats.latencies["intake"] == .init(count: 900, p50: 4.5, p90: 9.5, p99: 31, max: 80.2))
        #expect(stats.deadLetters == 1 && stats.dueSends == 3 && stats.outbox == 12)
        #expect(stats.inFlight == 40)
        #expect(stats.residentBytes == 61_000_000 && stats.cpu == .milliseconds(2500))
    }

    @Test func `A heartbeat of which everything is missing or of another kind is read as nothing`() throws {
        let bare = try LogSample.stats(LogSample.line(0, "worker.stats"))
        #expect(bare.requests == 0 && bare.repeats == 0 && bare.decisions.isEmpty)
        #expect(bare.lag.isEmpty && bare.dueSends == nil)
        let wrong = try LogSample.stats(
            LogSample.line(
                0,
                "worker.stats",
                #""requests":-5,"interval_ms":1e300,"decisions":[1],"regions":{"US":7},"providers":{"main":null},"lag":{"0":"x"},"latency_ms":{"intake":{"p50":1}}"#
            )
        )
        #expect(wrong.requests == 0 && wrong.decisions.isEmpty && wrong.regions.isEmpty && wrong.providers.isEmpty)
        #expect(wrong.lag.isEmpty && wrong.latencies.isEmpty)
        #expect(wrong.interval == .milliseconds(10_000_000_000_000))
    }

    @Test func `No line of any bytes traps a reader`() async throws {
        var random = TestSeed("log lines")
        var history = FleetHistory()
        var now = FleetNow()
        var readable = 0
        for _ in 0..<20_000 {
            var bytes = Array(LogSample.Heartbeat().line(Double.random(in: 0...1e6, using: &random)).utf8)
            for _ in 0..<Int.random(in: 0...3, using: &random) {
                let place = Int.random(in: 0..<bytes.count, using: &random)
                switch Int.random(in: 0..<3, using: &random) {
                case 0: bytes[place] = UInt8.random(in: .min ... .max, using: &random)
                case 1: bytes[place] = Array("0123456789e-{}[]\"".utf8).randomElement(using: &random) ?? 0
                default: bytes.removeSubrange(place..<min(bytes.count, place + Int.random(in: 1...9, using: &random)))
                }
            }
            guard let entry = LogEntry(bytes) else { continue }
            readable += 1
            history.add(entry, from: "worker.log")
            now.add(entry)
        }
        history.finish()
        #expect(readable > 1000)
        let page = try await drawn(ReportPage(history, tally: LineTally(), sources: []).html)
        #expect(page.contains("<h2>Lines</h2>"))
        #expect(!TopScreen(now, tally: LineTally(), now: LogSample.time(1e6), isOver: true).summary.isEmpty)
    }
}
