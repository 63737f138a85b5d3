// SPDX-License-Identifier: Apache-2.0

import Formats

/// A worker's heartbeat, the event `worker.stats`; its counts cover one interval.
package struct WorkerStats: Sendable {
    package static let event = "worker.stats"

    /// The latency of a stage in milliseconds.
    package struct Latency: Sendable, Equatable {
        /// The number of durations; 1 for an older worker, which does not report it.
        package let count: Double
        package let p50: Double
        package let p90: Double
        package let p99: Double
        package let max: Double
    }

    package struct Spend: Sendable, Equatable {
        package let amount: Double
        package let regions: [String: Double]

        /// By tenant and name, such as `default/all-day`.
        package let budgets: [String: Double]
    }

    package struct Provider: Sendable {
        /// Answers by outcome.
        package let outcomes: [String: Double]

        /// `closed`, `open` or `half_open`.
        package let breaker: String?
        package let score: Double?

        /// True when the circuit is open and the worker skips the provider.
        package var isPaused: Bool { breaker == "open" }

        /// True when the next message probes the provider, which may take hours if none comes.
        package var isProbed: Bool { breaker == "half_open" }
    }

    package let interval: Duration

    /// The interval, limited to an hour because a wrong value would distort everything else.
    package var believedInterval: Duration { min(interval, .seconds(3600)) }

    package let uptime: Duration?
    package let requests: Double

    /// The number of published events that repeat an earlier decision (`duplicate_request`).
    ///
    /// They are in no count of decisions, regions or rules.
    package let repeats: Double
    package let decisions: [String: Double]
    package let regions: [String: [String: Double]]
    package let providers: [String: Provider]
    package let rules: [String: Double]

    /// The toll-fraud brake: `blocked` scopes now, and requests `refused` and `recorded`.
    package let brake: [String: Double]
    /// Money for text messages, by currency.
    package let spend: [String: Spend]
    package let deadLetters: Double
    package let inFlight: Double?
    package let outbox: Double?
    package let dueSends: Double?

    /// The lag in records, by partition of the requests topic.
    package let lag: [String: Double]

    /// Topics that the worker cannot use although brokers answer, one sentence each.
    package let topicFaults: [String]
    package let latencies: [String: Latency]
    package let errors: [String: Double]
    package let residentBytes: Double?
    package let cpu: Duration?

    /// Parses a heartbeat; nil for any other event.
    ///
    /// Missing fields count as empty: an older worker may not know them.
    package init?(_ entry: LogEntry) {
        guard entry.event == Self.event else { return nil }
        let fields = entry.fields
        interval = fields.milliseconds("interval_ms") ?? .seconds(10)
        uptime = fields.milliseconds("uptime_ms")
        requests = fields.amount("requests") ?? 0
        repeats = fields.amount("repeats") ?? 0
        decisions = fields.object("decisions")?.amounts ?? [:]
        regions = fields.object("regions").map { Self.table($0) } ?? [:]
        providers = fields.object("providers").map { Self.providers($0) } ?? [:]
        rules = fields.object("rules")?.amounts ?? [:]
        brake = fields.object("brake")?.amounts ?? [:]
        spend = fields.object("spend").map { Self.spend($0) } ?? [:]
        deadLetters = fields.amount("dead_letters") ?? 0
        inFlight = fields.amount("in_flight")
        outbox = fields.amount("outbox")
        dueSends = fields.amount("due_sends")
        lag = fields.object("lag")?.amounts ?? [:]
        topicFaults = fields.object("topic_faults").map { Self.topicFaults($0) } ?? []
        latencies = fields.object("latency_ms").map { Self.latencies($0) } ?? [:]
        errors = fields.object("errors")?.amounts ?? [:]
        residentBytes = fields.amount("rss_bytes")
        cpu = fields.milliseconds("cpu_ms")
    }

    private static func table(_ object: JSONObject) -> [String: [String: Double]] {
        Dictionary(object.objects.map { ($0.name, $0.object.amounts) }) { first, _ in first }
    }

    private static func providers(_ object: JSONObject) -> [String: Provider] {
        let providers = object.objects.map { name, fields in
            var outcomes = fields.amounts
            let score = outcomes.removeValue(forKey: "score")
            return (name, Provider(outcomes: outcomes, breaker: fields.text("breaker"), score: score))
        }
        return Dictionary(providers) { first, _ in first }
    }

    private static func spend(_ object: JSONObject) -> [String: Spend] {
        let currencies = object.objects.map { currency, fields in
            let spend = Spend(
                amount: fields.amount("amount") ?? 0,
                regions: fields.object("regions")?.amounts ?? [:],
                budgets: fields.object("budgets")?.amounts ?? [:]
            )
            return (currency, spend)
        }
        return Dictionary(currencies) { first, _ in first }
    }

    private static func topicFaults(_ object: JSONObject) -> [String] {
        [("publish", "cannot publish to"), ("read", "cannot read")].flatMap { use, words in
            (object.object(use)?.texts ?? []).map { "\(words) \($0.name) (\($0.text.replacing("_", with: " ")))" }
        }
    }

    /// The stages with any durations.
    private static func latencies(_ object: JSONObject) -> [String: Latency] {
        let latencies = object.objects.compactMap { name, fields -> (String, Latency)? in
            guard let p50 = fields.amount("p50"), let p90 = fields.amount("p90"), let p99 = fields.amount("p99"),
                let max = fields.amount("max"), max > 0
            else { return nil }
            let count = Swift.max(1, fields.amount("count") ?? 1)
            return (name, Latency(count: count, p50: p50, p90: p90, p99: p99, max: max))
        }
        return Dictionary(latencies) { first, _ in first }
    }
}

extension JSONObject {
    fileprivate func milliseconds(_ name: String) -> Duration? {
        amount(name).map { .milliseconds(min($0, 1e13)) }
    }
}
