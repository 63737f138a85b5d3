// SPDX-License-Identifier: Apache-2.0

import Formats
import Testing
import Verification

@testable import LogReading

@Suite struct TopScreenTests {
    private func fleet(_ lines: [String]) throws -> FleetNow {
        var fleet = FleetNow()
        for line in lines { fleet.add(try LogSample.entry(line)) }
        return fleet
    }

    private func screen(_ lines: [String], at seconds: Double, width: Int = 80, height: Int = 24) throws -> [String] {
        let screen = TopScreen(try fleet(lines), tally: LineTally(), now: LogSample.time(seconds), isOver: false)
        return screen.layout(width: width, height: height).map { $0.plain(width: width) }
    }

    @Test func `Rates are those of the last minute of the workers that are there`() throws {
        let lines = (1...20).flatMap { index in
            [
                LogSample.Heartbeat(worker: "host-1", requests: index <= 10 ? 50_000 : 1000).line(Double(index) * 10),
                LogSample.Heartbeat(worker: "host-2").line(Double(index) * 10 + 3),
            ]
        }
        let text = try screen(lines, at: 205).joined(separator: "\n")
        #expect(text.contains("2 workers"))
        #expect(text.contains("requests/s 200  sent/s 190  rejected/s 8  failed/s 0  unknown 1.04 %"))
        #expect(text.contains("lag 6  due 3  outbox 12  in flight 80  dead letters/min 12  retries/min 24"))
    }

    @Test func `The brake is shown while it blocks a scope or stops a request`() throws {
        let lines = ["host-1", "host-2"].map { worker in
            LogSample.Heartbeat(
                worker: worker,
                brake: #"{"blocked":3,"half_open":1,"refused":20,"recorded":1,"reader_lag_ms":6000}"#
            ).line(600)
        }
        let text = try screen(lines, at: 605)
        #expect(text.contains("brake: 3 scopes blocked, 240 requests/min refused, 12 only recorded"))
        let calm = try screen([LogSample.Heartbeat().line(600)], at: 605)
        #expect(!calm.contains { $0.contains("brake") })
        let summary = TopScreen(try fleet(lines), tally: LineTally(), now: LogSample.time(605), isOver: false).summary
        #expect(summary.contains(", brake: 3 scopes blocked"))
    }

    @Test func `Figures a minute are those of a minute, however long an interval is`() throws {
        let lines = [300.0, 600].flatMap { second in
            ["host-1", "host-2"].map { worker in
                LogSample.Heartbeat(worker: worker, interval: .seconds(300)).line(second)
            }
        }
        let text = try screen(lines, at: 800)
        #expect(text.contains { $0.contains("dead letters/min 0.4  retries/min 0.8") })
        #expect(text.contains { $0.hasPrefix("quota_recipient              12 ") })
        #expect(text.contains { $0.hasPrefix("requests/s 6.67  sent/s 6.33") })
        var fleet = try fleet(lines)
        fleet.forget(at: LogSample.time(1600))
        #expect(fleet.workers.count == 2)
        fleet.forget(at: LogSample.time(2400))
        #expect(fleet.workers.isEmpty)
    }

    @Test func `Topics that cannot be used are named, with how many workers say so`() throws {
        let fault =
            #""topic_faults":{"publish":{"deliveries":"too_few_in_sync"},"read":{"requests":"not_authorized"}},"lag""#
        let lines = [
            LogSample.Heartbeat(worker: "host-1").line(10).replacing("\"lag\"", with: fault),
            LogSample.Heartbeat(worker: "host-2").line(10),
        ]
        let text = try screen(lines, at: 12)
        #expect(text.contains("cannot publish to deliveries (too few in sync) 1/2"))
        #expect(text.contains("cannot read requests (not authorized) 1/2"))
        #expect(text.count <= 24)
        let summary = TopScreen(try fleet(lines), tally: LineTally(), now: LogSample.time(12), isOver: false).summary
        #expect(
            summary.hasSuffix(
                "cannot publish to deliveries (too few in sync) 1/2, cannot read requests (not authorized) 1/2"
            )
        )
    }

    @Test func `An interval of years is believed as an hour`() throws {
        let heartbeat = LogSample.Heartbeat(worker: "odd", interval: .seconds(1_000_000_000)).line(10)
        var fleet = try fleet([heartbeat])
        #expect(fleet.live(at: LogSample.time(10_810)).count == 1)
        #expect(fleet.live(at: LogSample.time(10_811)).isEmpty)
        fleet.forget(at: LogSample.time(21_609))
        #expect(fleet.workers.count == 1)
        fleet.forget(at: LogSample.time(21_610))
        #expect(fleet.workers.isEmpty)
    }

    @Test func `A worker whose clock is ahead, and a line of the far future, make nobody silent`() throws {
        var fleet = FleetNow()
        let clock = LogSample.time(200)
        fleet.add(try LogSample.entry(LogSample.line(1_000_000_000, "policy.loaded", "")), clock: clock)
        for second in stride(from: 10.0, through: 200, by: 10) {
            let lines = [
                LogSample.Heartbeat(worker: "ahead").line(second + 300),
                LogSample.Heartbeat(worker: "right").line(second),
            ]
            for line in lines { fleet.add(try LogSample.entry(line), clock: LogSample.time(second)) }
        }
        let now = try #require(fleet.newest)
        #expect(now <= clock + .seconds(60))
        #expect(fleet.live(at: now).count == 2)
        fleet.forget(at: now)
        #expect(fleet.workers.count == 2)
    }

    @Test func `The log's time goes on while no line is newer, and never goes back`() {
        var clock = LogClock()
        let start = ContinuousClock.now
        #expect(clock.now(at: start) == nil)
        clock.reach(LogSample.time(10), at: start)
        for second in [1, 20, 40] { clock.reach(LogSample.time(10), at: start + .seconds(second)) }
        #expect(clock.now(at: start + .seconds(40)) == LogSample.time(50))
        clock.reach(LogSample.time(45), at: start + .seconds(40))
        #expect(clock.now(at: start + .seconds(41)) == LogSample.time(51))
        clock.reach(LogSample.time(100), at: start + .seconds(41))
        #expect(clock.now(at: start + .seconds(42)) == LogSample.time(101))
    }

    @Test func `Lines that are no newer make nobody live, and one of the future makes nobody silent`() throws {
        var fleet = FleetNow()
        var clock = LogClock()
        let start = ContinuousClock.now
        func now(_ seconds: Int) throws -> Timestamp { try #require(clock.now(at: start + .seconds(seconds))) }
        func take(_ line: String, after seconds: Int) throws {
            let instant = start + .seconds(seconds)
            let entry = try LogSample.entry(line)
            fleet.add(entry, clock: LogSample.time(Double(seconds)), now: clock.now(at: instant))
            clock.reach(try #require(fleet.newest), at: instant)
        }
        try take(LogSample.line(1_000_000_000, "policy.loaded"), after: 0)
        for second in stride(from: 10, through: 50, by: 10) {
            try take(LogSample.Heartbeat().line(Double(second)), after: second)
            let before = try now(second + 9)
            #expect(fleet.live(at: before).count == 1)
        }
        for second in 51...90 { try take(LogSample.line(50, "policy.loaded"), after: second) }
        let (last, next) = (try now(80), try now(81))
        #expect(fleet.live(at: last).count == 1 && fleet.live(at: next).isEmpty)
    }

    @Test func `Before the first entry the screen says what it waits for, or that no line is one`() {
        func last(_ lines: [String]) -> String? {
            var tally = LineTally()
            for line in lines { _ = tally.read(.whole(Array(line.utf8))) }
            let screen = TopScreen(FleetNow(), tally: tally, now: LogSample.time(0), isOver: false)
            return screen.layout(width: 80, height: 24).last?.plain(width: 80)
        }
        #expect(last([]) == "Waiting for the first line ...")
        #expect(last(["a", "b"]) == "2 lines came, and none is an entry in format json or otel (log.format).")
    }

    @Test func `A worker that is silent is told of and not counted, one that stopped is no alarm`() throws {
        let lines = [
            LogSample.Heartbeat(worker: "host-1").line(10), LogSample.Heartbeat(worker: "host-2").line(10),
            LogSample.Heartbeat(worker: "host-3").line(10),
            LogSample.Heartbeat(worker: "host-4").line(10),
            LogSample.line(11, "worker.stopped", #""worker.id":"host-3""#),
            LogSample.line(11, "worker.drain_timeout", severity: "warning", #""worker.id":"host-4""#),
            LogSample.Heartbeat(worker: "host-1").line(55),
        ]
        let text = try screen(lines, at: 60).joined(separator: "\n")
        #expect(text.contains("1 worker, 1 silent"))
        #expect(text.contains("silent for 50 s"))
        #expect(text.contains("stopped for 50 s"))
        #expect(text.contains("requests/s 100"))
        var fleet = try fleet(lines)
        fleet.forget(at: LogSample.time(311))
        #expect(fleet.workers.keys.sorted() == ["host-1"])
    }

    @Test func `A breaker is told with how many workers pass the provider over`() throws {
        let lines = [
            LogSample.Heartbeat(worker: "host-1", breaker: "open").line(10),
            LogSample.Heartbeat(worker: "host-2").line(11),
            LogSample.Heartbeat(worker: "host-3", breaker: "open").line(12),
        ]
        #expect(try screen(lines, at: 13).contains { $0.hasPrefix("main") && $0.contains("open 2/3") })
        let summary = TopScreen(try fleet(lines), tally: LineTally(), now: LogSample.time(13), isOver: false).summary
        #expect(summary.hasPrefix("2026-11-20 12:00:13 3 workers, requests/s 300, sent/s 285,"))
        #expect(summary.hasSuffix("paused: main 2/3"))
    }

    @Test(arguments: ["open", "half_open"])
    func `A provider whose circuit is not closed has no score`(breaker: String) throws {
        let row = try screen([LogSample.Heartbeat(breaker: breaker).line(10)], at: 12).first { $0.hasPrefix("main") }
        #expect(row?.hasSuffix(" 0") == true)
        let closed = try screen([LogSample.Heartbeat().line(10)], at: 12).first { $0.hasPrefix("main") }
        #expect(closed?.hasSuffix(" 90") == true)
    }

    @Test func `A policy that workers refused is told until they load another one`() throws {
        func refused(_ worker: String) -> String {
            LogSample.line(
                11,
                "policy.refused",
                severity: "error",
                #""worker.id":"\#(worker)","fault":"policy.yaml:7: version: is required""#
            )
        }
        let lines = ["host-1", "host-2", "host-3"].map { LogSample.Heartbeat(worker: $0).line(10) }
        let fault = "policy refused 2/3: policy.yaml:7: version: is required"
        let all = lines + [refused("host-1"), refused("host-2")]
        #expect(try screen(all, at: 12).contains(fault))
        let summary = TopScreen(try fleet(all), tally: LineTally(), now: LogSample.time(12), isOver: false).summary
        #expect(summary.hasSuffix(", \(fault)"))
        let reloaded = ["host-1", "host-2"].map { LogSample.line(13, "policy.reloaded", #""worker.id":"\#($0)""#) }
        #expect(try screen(all + reloaded, at: 14).allSatisfy { !$0.contains("refused 2/3") })
    }

    @Test func `A provider that the next message asks again is told as half open and is no alarm`() throws {
        let heartbeats = [("host-1", "half_open"), ("host-2", "closed"), ("host-3", "closed")]
        let lines = heartbeats.map { LogSample.Heartbeat(worker: $0, breaker: $1).line(10) }
        let screen = TopScreen(try fleet(lines), tally: LineTally(), now: LogSample.time(13), isOver: false)
        #expect(!screen.summary.contains("paused"))
        let rows = screen.lines(width: 80, height: 24, colours: true).filter { $0.hasPrefix("main") }
        #expect(rows.count == 1 && rows[0].contains("half open 1/3") && !rows[0].contains("\u{1b}"))
        let worse = lines + [LogSample.Heartbeat(worker: "host-2", breaker: "open").line(12)]
        let row = try self.screen(worse, at: 13).first { $0.hasPrefix("main") }
        #expect(row?.contains(" open 1/3") == true && row?.contains("half") == false)
    }

    @Test(arguments: [(80, 24), (160, 50), (40, 10), (20, 3), (1, 1), (500, 200)])
    func `The screen never exceeds the terminal, however many workers and whatever their names`(
        width: Int,
        height: Int
    ) throws {
        let lines = (0..<60).map { index in
            LogSample.Heartbeat(worker: "host-\(index)-\\u001b[2J\\n漢字-with-a-name-longer-than-its-column").line(10)
        }
        let fleet = try fleet(lines + [LogSample.line(11, "x", severity: "error", #""reason":"\u001b]0;title\u0007""#)])
        let screen = TopScreen(fleet, tally: LineTally(), now: LogSample.time(12), isOver: false)
        let plain = screen.layout(width: width, height: height).map { $0.plain(width: width) }
        #expect(plain.allSatisfy { $0.utf8.count <= width && $0.utf8.allSatisfy { (0x20...0x7e).contains($0) } })
        let drawn = screen.lines(width: width, height: height, colours: true)
        #expect(drawn.count <= height)
        #expect(drawn.allSatisfy { !$0.contains("\u{1b}[2J") && !$0.contains("\u{1b}]") })
    }

    @Test func `At 80 by 24 every part has its place`() throws {
        let lines = (0..<20).map { LogSample.Heartbeat(worker: "host-\($0)").line(10) }
        let trouble = LogSample.line(11, "kafka.unreachable", severity: "error")
        let repeated = LogSample.line(11.5, "log.suppressed", severity: "warning")
        let text = try screen(lines + [trouble, repeated], at: 12)
        #expect(text.count == 24)
        #expect(text.contains { $0.hasPrefix("WORKER") } && text.contains { $0.hasPrefix("PROVIDER") })
        #expect(text.contains { $0.contains("REFUSED BY REASON") && $0.contains("LATENCY, MS") })
        #expect(text.contains { $0.hasSuffix(" more") })
        #expect(text.last == "12:00:11 error kafka.unreachable ")
    }

    @Test func `Without colours a line still says what is bad`() {
        var line = ScreenLine("good ", .good)
        line.add("bad", .bad)
        #expect(line.styled(width: 80, colours: false) == "good \u{1b}[1mbad\u{1b}[0m")
        #expect(line.styled(width: 80, colours: true) == "\u{1b}[32mgood \u{1b}[0m\u{1b}[1;31mbad\u{1b}[0m")
        #expect(line.styled(width: 6, colours: false) == "good \u{1b}[1mb\u{1b}[0m")
    }
}
