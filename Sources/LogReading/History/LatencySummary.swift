// SPDX-License-Identifier: Apache-2.0

/// The latencies of one stage over many intervals of many workers.
///
/// Percentiles cannot be added. The lower ones are means, weighted by the number of durations in each interval; the
/// 99th is the worst interval of any worker, so that no outlier is averaged away.
struct LatencySummary: Equatable {
    private var weight: Double
    private var weighted50: Double
    private var weighted90: Double
    private(set) var p99: Double
    private(set) var max: Double

    init(_ latency: WorkerStats.Latency) {
        weight = latency.count
        weighted50 = latency.p50 * latency.count
        weighted90 = latency.p90 * latency.count
        p99 = latency.p99
        max = latency.max
    }

    var p50: Double { weighted50 / weight }
    var p90: Double { weighted90 / weight }

    func merged(with other: LatencySummary) -> LatencySummary {
        var sum = self
        sum.weight += other.weight
        sum.weighted50 += other.weighted50
        sum.weighted90 += other.weighted90
        sum.p99 = Swift.max(p99, other.p99)
        sum.max = Swift.max(max, other.max)
        return sum
    }

    /// The order of the stages: the end-to-end latencies, which users experience, then their largest parts.
    private static let order = [
        "request_to_provider", "request_to_event", "provider", "queue", "intake", "dispatch", "record", "publish",
    ]

    /// The stages in the order for display; unknown ones come last, by name.
    static func ordered(_ stages: some Sequence<String>) -> [String] {
        stages.sorted { (place($0), $0) < (place($1), $1) }
    }

    private static func place(_ stage: String) -> Int { order.firstIndex(of: stage) ?? order.count }
}
