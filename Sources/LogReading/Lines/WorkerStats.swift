// SPDX-License-Identifier: Apache-2.0

import Verification

/// What a worker says of itself every few seconds, in the event `worker.stats`; counts are of the interval.
package struct WorkerStats: Sendable {
    package static let event = "worker.stats"

    /// Milliseconds that a stage took.
    package struct Latency: Sendable, Equatable {
        /// How many durations these are of; 1 where an older worker does not say.
        package let count: Double
        package let p50: Double
        package let p90: Double
        package let p99: Double
        package let max: Double
    }

    package struct Provider: Sendable {
        /// Answers by outcome.
        package let outcomes: [String: Double]

        /// `closed`, `open` or `half_open`.
        package let breaker: String?
        package let score: Double?

        /// Whether the worker passes it over.
        package var isPaused: Bool { breaker == "open" }

        /// Whether a pause is over and the worker's next message finds out: for hours, where none comes.
        package var isProbed: Bool { breaker == "half_open" }
    }

    package let interval: Duration

    /// The interval as far as a worker's own idea of it is believed.
    package var believedInterval: Duration { min(interval, .seconds(3600)) }

    package let uptime: Duration?
    package let requests: Double

    /// Published delivery events that told an earlier decision once more (`duplicate_request`): they are in no count of
    /// decisions, regions or rules.
    package let repeats: Double
    package let decisions: [String: Double]
    package let regions: [String: [String: Double]]
    package let providers: [String: Provider]
    package let rules: [String: Double]
    package let deadLetters: Double
    package let inFlight: Double?
    package let outbox: Double?
    package let dueSends: Double?

    /// Records that wait, by partition of the requests topic.
    package let lag: [String: Double]

    /// Topics that the worker cannot use though brokers answer, a sentence each.
    package let topicFaults: [String]
    package let latencies: [String: Latency]
    package let errors: [String: Double]
    package let residentBytes: Double?
    package let cpu: Duration?

    /// Reads a heartbeat; nil for any other event.
    ///
    /// What is missing is nothing: an older worker may not know it.
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

    private static func topicFaults(_ object: JSONObject) -> [String] {
        [("publish", "cannot publish to"), ("read", "cannot read")].flatMap { use, words in
            (object.object(use)?.texts ?? []).map { "\(words) \($0.name) (\($0.text.replacing("_", with: " ")))" }
        }
    }

    /// The stages that anything went through.
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
