// SPDX-License-Identifier: Apache-2.0

import Formats
import Foundation
import Testing
import Verification

@testable import LogReading

@Suite(.serialized, .timeLimit(.minutes(5))) struct ReportPageTests {
    private func page(_ lines: [String], broken: Int = 0) async throws -> String {
        var tally = LineTally()
        for line in lines { _ = tally.read(.whole(Array(line.utf8))) }
        for _ in 0..<broken { _ = tally.read(.whole(Array("broken".utf8))) }
        return try await drawn(ReportPage(try LogSample.history(lines), tally: tally, sources: ["worker.log"]).html)
    }

    private func calm() -> [String] {
        (1...30).flatMap { index in
            ["host-1", "host-2"].map { LogSample.Heartbeat(worker: $0).line(Double(index) * 10) }
        }
    }

    @Test func `The page shows every part, each chart with its table`() async throws {
        let page = try await page(
            calm() + [
                LogSample.line(301, "provider.paused", severity: "warning", #""provider":"main","worker.id":"host-1""#),
                LogSample.line(305, "provider.resumed", #""provider":"main","worker.id":"host-1""#),
            ]
        )
        let titles = [
            "Incidents", "Throughput", "Regions", "Providers", "Latency", "Backlog", "Refusals", "Unknown outcomes",
            "Breakers",
            "Errors",
            "Workers", "Lines",
        ]
        for title in titles { #expect(page.contains("<h2>\(title)</h2>"), "\(title)") }
        let figures = page.components(separatedBy: "<figure").dropFirst()
        #expect(figures.count == 12)
        for figure in figures { #expect(figure.components(separatedBy: "</figure>")[0].contains("<table>")) }
        #expect(
            page.contains(
                "2026-11-20 12:00:10 to 2026-11-20 12:05:05 UTC, 4 min 55 s · 2 workers · 62 lines from worker.log"
            )
        )
        #expect(page.contains("<dt>requests</dt><dd>60,000</dd>"))
        #expect(page.contains("<dt>outcome unknown</dt><dd>600 <small>1.04 %</small></dd>"))
        #expect(page.contains("<td>provider=main</td>"))
        #expect(page.contains("<figcaption>Refusals by reason"))
        #expect(!page.contains("class=\"doubt\""))
    }

    @Test func `Rates are those of the time that heartbeats tell of, and a gap is a gap`() async throws {
        let page = try await page([14.0, 24, 304].map { LogSample.Heartbeat().line($0) })
        for time in ["12:00:00", "12:00:10", "12:00:20", "12:04:50", "12:05:00"] {
            #expect(page.contains("<tr><th scope=\"row\">2026-11-20 \(time)</th><td>100</td></tr>"), "\(time)")
        }
        #expect(page.contains("<tr><th scope=\"row\">2026-11-20 12:02:00</th><td>–</td></tr>"))
        #expect(page.contains("1 gap without heartbeat, the longest 4 min 40 s: lines are missing, or the worker was"))
    }

    @Test func `Money has its tile, chart and tables, and none where nothing was paid`() async throws {
        var heartbeat = LogSample.Heartbeat()
        heartbeat.spend = #"{"EUR":{"amount":"12.5","regions":{"US":"12.5"},"budgets":{"default/day":"12.5"}}}"#
        let page = try await page([heartbeat.line(10)])
        #expect(page.contains("<dt>spent</dt><dd>12.5 EUR</dd>"))
        #expect(page.contains("<h2>Money</h2>"))
        #expect(page.contains("<tr><th scope=\"row\">US, EUR</th><td>12.5</td></tr>"))
        #expect(page.contains("<tr><th scope=\"row\">default/day, EUR</th><td>12.5</td></tr>"))
        let free = try await self.page(calm())
        #expect(!free.contains("<h2>Money</h2>") && !free.contains("<dt>spent</dt>"))
    }

    @Test func `Adaptive routes have a table of the shares that were reported last`() async throws {
        func line(_ second: Double, _ provider: String, _ share: Int, region: String = #""region":"DE","#) -> String {
            LogSample.line(
                second,
                "route.shares",
                #""tenant":"default",\#(region)"provider":"\#(provider)","share":\#(share),"conversion":71,"observations":1234"#
            )
        }
        let page = try await page([
            LogSample.Heartbeat().line(10), line(11, "main", 50), line(12, "backup", 50), line(20, "main", 1),
            line(20, "backup", 99), line(20, "main", 30, region: ""),
        ])
        let rows = page.components(separatedBy: "<h2>Adaptive routes</h2>").last?.components(separatedBy: "</table>")[0]
        let cells = (rows ?? "").components(separatedBy: "<tr>").dropFirst(2).map { row in
            row.replacing(#/<[^>]*>/#, with: "|").split(separator: "|").joined(separator: " ")
        }
        #expect(
            cells == [
                "default others main 30 % 71 % 1,234", "default DE backup 99 % 71 % 1,234",
                "default DE main 1 % 71 % 1,234",
            ]
        )
        #expect(try await !self.page(calm()).contains("<h2>Adaptive routes</h2>"))
    }

    @Test func `Requests that had come before are told, and are no part of what was refused`() async throws {
        let page = try await page([LogSample.Heartbeat(repeats: 200).line(10)])
        #expect(page.contains("<dt>of them repeats</dt><dd>200 <small>20 %</small></dd>"))
        #expect(page.contains("<dt>rejected</dt><dd>40 <small>5 %</small></dd>"))
    }

    @Test func `Incidents come first, and the first tiles are those that tell of harm`() async throws {
        var heartbeat = LogSample.Heartbeat()
        heartbeat.decisions = #"{"sent":950,"delivered":900,"failed":20,"expired_unsent":30}"#
        let fault = String(repeating: "a long fault ", count: 30)
        let page = try await page([
            heartbeat.line(10),
            LogSample.line(11, "provider.paused", severity: "warning", #""worker.id":"host-1","provider":"main""#),
            LogSample.line(30, "provider.resumed", #""worker.id":"host-1","provider":"main""#),
            LogSample.line(31, "policy.refused", severity: "error", #""worker.id":"host-1","fault":"\#(fault)""#),
        ])
        #expect(page.matches(of: #/<h2>([^<]+)</#).first?.1 == "Incidents")
        #expect(
            page.contains(
                "<th scope=\"row\">2026-11-20 12:00:11</th><td>2026-11-20 12:00:30</td><td>19 s</td>"
                    + "<td>provider.paused</td><td>host-1</td><td>provider=main</td>"
            )
        )
        #expect(page.contains("<td>not over</td>"))
        #expect(page.contains("<td>fault=\(fault)</td>"))
        #expect(
            page.matches(of: #/<dt>([^<]+)</#).prefix(7).map { String($0.1) } == [
                "requests", "sent", "delivered", "failed", "expired unsent", "most due sends", "to the provider, p99",
            ]
        )
        #expect(page.contains("<dt>failed</dt><dd class=\"bad\">20 "))
        #expect(page.contains("<dt>expired unsent</dt><dd class=\"bad\">30 "))
        #expect(page.contains("<dt>most due sends</dt><dd>3</dd>"))
        #expect(page.contains("<dt>to the provider, p99</dt><dd>31 ms</dd>"))
    }

    @Test func `The page shows what the brake stopped, if it did`() async throws {
        let brake = #"{"blocked":2,"half_open":1,"refused":1500,"recorded":7}"#
        let lines = [10.0, 20].map { LogSample.Heartbeat(brake: brake).line($0) }
        let page = try await page(lines)
        #expect(page.contains("At most 2 scopes blocked at a time. 3,000 requests refused, 14 only recorded."))
        let calm = try await self.page([LogSample.Heartbeat().line(10)])
        #expect(!calm.contains("Toll-fraud brake"))
    }

    @Test func `Where nothing happened the page says so`() async throws {
        let idle = #""worker.id":"w","regions":{"GB":{"sent":0}},"providers":{"main":{"breaker":"closed","score":100}}"#
        let page = try await page([LogSample.line(10, "worker.stats", idle)])
        for words in [
            "No region was counted.", "No provider was asked.", "No stage was measured.", "No request was refused.",
            "No provider was paused.", "No warning, no error, no retry.",
            "No outage, and no gap of a worker.",
        ] {
            #expect(page.contains(words), "\(words)")
        }
    }

    @Test func `Where no entry is of the time asked for the page says so, and blames no log level`() async throws {
        var tally = LineTally()
        _ = tally.read(.whole(Array(LogSample.Heartbeat().line(10).utf8)))
        let page = try await drawn(ReportPage(FleetHistory(), tally: tally, sources: ["w.log"]).html)
        #expect(page.contains("No entry in the time asked for in w.log"))
        #expect(!page.contains("log.level"))
    }

    @Test func `The page says what it could not read and what is missing`() async throws {
        let withoutHeartbeat = try await page([LogSample.line(0, "worker.started")], broken: 3)
        #expect(withoutHeartbeat.contains("3 of 4 lines could not be read"))
        #expect(withoutHeartbeat.contains("No heartbeat (worker.stats) is among the lines"))
        let inTurn = try await page(calm() + [LogSample.Heartbeat(worker: "host-3").line(-10)])
        #expect(inTurn.contains("<p class=\"doubt\">Logs follow each other here"))
        #expect(inTurn.contains("which sort does in format json"))
        let foreign = try await drawn(
            ReportPage(FleetHistory(), tally: LineTally(), sources: ["empty.log"], foreign: ["<a>.gz", "b"]).html
        )
        #expect(foreign.contains("<p class=\"doubt\">Left out: &lt;a&gt;.gz, b. No line is an entry"))
        #expect(foreign.contains("No line in empty.log"))
    }

    @Test func `Nothing of a log becomes markup, and nothing comes from outside`() async throws {
        let hostile = "</td><script>alert(1)</script>&\\\"'\\u202e\\u0000\\u001b[31m"
        var heartbeat = LogSample.Heartbeat(worker: hostile)
        heartbeat.providerName = hostile
        heartbeat.breaker = "open"
        heartbeat.decisions = #"{"\#(hostile)":5}"#
        heartbeat.regions = #"{"\#(hostile)":{"\#(hostile)":5}}"#
        heartbeat.rules = #"{"\#(hostile)":5}"#
        heartbeat.lag = #"{"\#(hostile)":5}"#
        let lines = [
            heartbeat.line(10), heartbeat.line(20),
            LogSample.line(21, hostile, severity: "error", #""reason":"\#(hostile)""#),
            // In Swift's strings such a mark and the `<` beside it are one character.
            LogSample.line(22, "joined", severity: "error", #""reason":"\u0600</script>\u0600<meta>""#),
        ]
        let page = ReportPage(
            try LogSample.history(lines, file: "</title><script>x"),
            tally: LineTally(),
            sources: ["<script>name</script>"]
        ).html
        let letters = String(String.UnicodeScalarView(page.unicodeScalars.filter(\.isASCII)))
        #expect(letters.ranges(of: "<script").count == 2 && letters.ranges(of: "</script").count == 2)
        for word in [
            "<meta>", "http://", "https://", "src=", "href=", "url(", "@import", "<link", "innerHTML", "outerHTML",
            "insertAdjacentHTML", "document.write", "eval(",
        ] {
            #expect(!letters.replacing("http://www.w3.org/", with: "").contains(word), "\(word)")
        }
        #expect(page.contains("content=\"default-src 'none'; base-uri 'none'; form-action 'none'; style-src"))
        #expect(page.contains("; script-src 'sha256-"))
        let drawn = try await drawn(page)
        #expect(drawn.contains("&lt;/td&gt;&lt;script&gt;alert(1)&lt;/script&gt;&amp;"))
        #expect(!drawn.unicodeScalars.contains("\u{202e}") && !drawn.unicodeScalars.contains("\u{0}"))
        #expect(!drawn.unicodeScalars.contains("\u{1b}"))
    }

    /// The page of one worker with several stages, each with one duration.
    private func page(latencies: [Double]) async throws -> String {
        let stages = latencies.enumerated().map { index, value in
            #""stage\#(index)":{"count":1,"p50":\#(value),"p90":\#(value),"p99":\#(value),"max":1}"#
        }
        let members = #""worker.id":"w","latency_ms":{\#(stages.joined(separator: ","))}"#
        return try await page([LogSample.line(10, "worker.stats", members)])
    }

    @Test func `However small or great a value is, its axis has a few steps`() async throws {
        let values = [
            0, Double.leastNonzeroMagnitude, Double.leastNormalMagnitude, 1e-10, 1e-9, 1e-6, 7, 93, 1e15, 1e300,
            Double.greatestFiniteMagnitude,
        ]
        let plots = try await page(latencies: values).components(separatedBy: "<div class=\"plot\">").dropFirst()
        // The requests chart precedes these plots, and the chart of unknown outcomes follows them.
        #expect(plots.count == values.count + 2)
        for plot in plots { #expect((2...6).contains(plot.ranges(of: "<span style=\"bottom:").count)) }
        let labels = plots.map { plot in plot.matches(of: #/bottom:[0-9.]+%">([^<]+)</#).map { String($0.1) } }
        #expect(labels.contains(["0", "25", "50", "75", "100"]))
    }

    @Test func `Numbers are what people read`() async throws {
        let page = try await page(latencies: [0, 0.256, 9.999, 12.34, 99.96, 1234.5, 48_120, 3_600_000, 2e9])
        for (index, text) in ["0", "0.26", "10", "12.3", "100", "1,235", "48.1k", "3.6M", "2G"].enumerated() {
            #expect(page.contains("<th scope=\"row\">stage\(index)</th><td>\(text)</td>"), "\(text)")
        }
    }

    @Test(arguments: [
        (3600, ["12:00", "12:15", "12:30", "12:45", "13:00"]), (604_800, ["11-21", "11-23", "11-25", "11-27"]),
        (20, ["12:00:00", "12:00:05", "12:00:10", "12:00:15", "12:00:20"]),
    ])
    func `Times below a chart are round`(seconds: Int, labels: [String]) async throws {
        let page = try await page([10, Double(seconds)].map { LogSample.Heartbeat().line($0) })
        let chart = try #require(page.components(separatedBy: "<div class=\"plot\">").dropFirst().first)
        #expect(chart.matches(of: #/left:[0-9.]+%">([^<]+)</#).map { String($0.1) } == labels)
    }

    @Test func `Times that providers were paused are summed once, however many workers did so`() async throws {
        let page = try await page(
            [(1.0, "paused", "a"), (2, "paused", "b"), (5, "resumed", "a"), (8, "resumed", "b")].map {
                LogSample.line($0, "provider.\($1)", #""provider":"main","worker.id":"\#($2)""#)
            } + [LogSample.Heartbeat(worker: "a").line(10)]
        )
        #expect(page.contains("<th scope=\"row\">main</th><td>2</td><td>2</td><td>7 s</td><td>6 s</td>"))
    }

    @Test func `Numbers and spans on the terminal are what people read`() {
        #expect(
            [0, 0.256, 9.999, 12.34, 99.96, 1234.5, 48_120, 3_600_000, 2e9].map(Figure.short) == [
                "0", "0.26", "10", "12.3", "100", "1,235", "48.1k", "3.6M", "2G",
            ]
        )
        #expect([1_234_567, 100, -1234].map(\.grouped) == ["1,234,567", "100", "-1,234"])
        #expect(Figure.percent(0.0104) == "1.04 %" && Figure.percent(0.256) == "25.6 %")
        #expect(
            [.milliseconds(1240), .seconds(59), .seconds(245), .seconds(7380), .seconds(183_600)].map(Figure.span) == [
                "1.2 s", "59 s", "4 min 5 s", "2 h 3 min", "2 d 3 h",
            ]
        )
    }
}
