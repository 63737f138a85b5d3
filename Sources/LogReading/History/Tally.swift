// SPDX-License-Identifier: Apache-2.0

/// Sums by name, for a bounded number of names; further names are summed as `other`.
struct Tally {
    static let other = "other"

    private(set) var sums: [String: Double] = [:]
    private let most: Int

    init(most: Int = 200) {
        self.most = most
    }

    mutating func add(_ name: String, _ amount: Double = 1) {
        guard amount > 0 else { return }
        sums[place(of: name), default: 0] += amount
    }

    mutating func add(_ amounts: [String: Double]) {
        for (name, amount) in amounts { add(name, amount) }
    }

    /// The name under which amounts of `name` are added: itself, or `other`.
    func place(of name: String) -> String {
        sums[name] != nil || sums.count < most ? name : Self.other
    }

    var total: Double { sums.values.reduce(0, +) }

    subscript(name: String) -> Double { sums[name] ?? 0 }

    /// The sums from the greatest to the least, equal ones by name.
    var ranked: [(name: String, sum: Double)] {
        sums.map { (name: $0.key, sum: $0.value) }.sorted { ($1.sum, $0.name) < ($0.sum, $1.name) }
    }
}

/// A tally for each of a bounded number of rows, such as regions.
struct TallyTable {
    private(set) var rows: [String: Tally] = [:]
    private let most: Int

    init(most: Int = 60) {
        self.most = most
    }

    /// Adds amounts to a row; amounts that are all zero create no row.
    mutating func add(_ amounts: [String: Double], to row: String) {
        guard amounts.values.contains(where: { $0 > 0 }) else { return }
        let known = rows[row] != nil || rows.count < most
        rows[known ? row : Tally.other, default: Tally(most: 40)].add(amounts)
    }

    /// The rows from the greatest total to the least.
    var ranked: [(name: String, tally: Tally)] {
        rows.map { (name: $0.key, tally: $0.value) }
            .sorted { ($1.tally.total, $0.name) < ($0.tally.total, $1.name) }
    }
}

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
