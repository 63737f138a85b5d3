// SPDX-License-Identifier: Apache-2.0

import Formats
import Testing
import Verification

@testable import LogReading

/// Log lines as workers write them.
enum LogSample {
    /// 2026-11-20T12:00:00Z.
    static let start = Timestamp(microseconds: 1_795_176_000_000_000)

    static func time(_ seconds: Double) -> Timestamp { start + .milliseconds(Int64(seconds * 1000)) }

    /// A JSON line at `seconds` after the start; `members` follow its head.
    static func line(_ seconds: Double, _ event: String, severity: String = "info", _ members: String = "") -> String {
        var writer = JSONWriter()
        writer.object { line in
            line.member("timestamp", time(seconds).rfc3339)
            line.member("severity", severity)
            line.member("event", event)
            line.member("message", "words for people")
        }
        let head = String(decoding: writer.bytes.dropLast(), as: UTF8.self)
        return members.isEmpty ? "\(head)}" : "\(head),\(members)}"
    }

    /// The members of a heartbeat, by default those of a healthy fleet.
    struct Heartbeat {
        var worker = "host-1"
        var interval = Duration.seconds(10)
        var requests = 1000
        var repeats = 0
        var decisions = #"{"sent":950,"rejected":40,"unknown":10}"#
        var regions = #"{"US":{"sent":600,"rejected":30},"GB":{"sent":350,"rejected":10}}"#
        var breaker = "closed"
        var providerName = "main"
        var rules = #"{"quota_recipient":30,"region_not_allowed":10}"#
        var spend = "{}"
        var lag = #"{"0":4,"1":2}"#
        var brake = #"{"blocked":0,"half_open":0,"refused":0,"recorded":0}"#
        var latency = #"{"count":900,"p50":4.5,"p90":9.5,"p99":31.0,"max":80.2}"#

        var members: String {
            """
            "worker.id":"\(worker)","interval_ms":\(interval.microseconds / 1000),"uptime_ms":600000,\
            "requests":\(requests),"repeats":\(repeats),\
            "decisions":\(decisions),"regions":\(regions),\
            "providers":{"\(providerName)":{"accepted":900,"refused":4,"notSent":2,"breaker":"\(breaker)","score":90}},\
            "rules":\(rules),"brake":\(brake),"spend":\(spend),\
            "dead_letters":1,"in_flight":40,"max_in_flight":1024,"outbox":12,"due_sends":3,\
            "lag":\(lag),"latency_ms":{"intake":\(latency),"request_to_provider":\(latency)},\
            "errors":{"postgres":2,"kafka":0},"rss_bytes":61000000,"cpu_ms":2500
            """
        }

        func line(_ seconds: Double) -> String { LogSample.line(seconds, "worker.stats", members) }
    }

    static func entry(_ line: String) throws -> LogEntry {
        try #require(LogEntry(Array(line.utf8)), "\(line)")
    }

    static func stats(_ line: String) throws -> WorkerStats {
        try #require(WorkerStats(entry(line)))
    }

    /// The history of a fleet from the lines of one file, in order of time.
    static func history(_ lines: [String], file: String = "worker.log") throws -> FleetHistory {
        var history = FleetHistory()
        for line in lines { history.add(try entry(line), from: file) }
        history.finish()
        return history
    }
}
