// SPDX-License-Identifier: Apache-2.0

import Formats

/// The history of a fleet in bounded memory, from its workers' log lines, each worker's in the order of time.
package struct FleetHistory {
    private(set) var first: Timestamp?
    private(set) var last = Timestamp(microseconds: 0)
    private(set) var entries = 0
    private(set) var heartbeats = 0

    /// True when lines went back in time, as when one log follows another: sums over workers are then incomplete.
    private(set) var wentBack = false

    private(set) var timeline = TimeBuckets()
    private(set) var requests = 0.0
    private(set) var repeats = 0.0
    private(set) var deadLetters = 0.0
    private(set) var decisions = Tally()
    private(set) var regions = TallyTable()
    private(set) var providers = TallyTable()
    private(set) var rules = Tally()
    private(set) var retries = Tally()

    /// The requests that the toll-fraud brake stopped, and the maximum number of scopes that it blocked at one time.
    private(set) var brakeRefused = 0.0
    private(set) var brakeRecorded = 0.0
    private(set) var mostBlocked = 0.0
    /// Money for text messages by currency, and by region or budget with the currency.
    private(set) var spend = Tally()
    private(set) var spendByRegion = Tally()
    private(set) var spendByBudget = Tally()
    private(set) var routes = RouteTable()
    private(set) var latencies: [String: LatencySummary] = [:]
    private(set) var events = Tally()

    private(set) var pauses = PauseHistory()
    private(set) var incidents = IncidentHistory()
    private(set) var workers: [String: WorkerRecord] = [:]
    private(set) var problems: [Problem.Kind: Problem] = [:]
    private var lag = FleetLag()

    private static let mostWorkers = 2000
    private static let mostProblems = 500
    private static let mostStages = 40

    /// The disorder tolerated between lines of workers with different clocks.
    private static let disorder = Duration.seconds(300)

    package init() {}

    /// Adds an entry.
    ///
    /// A heartbeat without a worker's name counts as one of a worker named after its file.
    package mutating func add(_ entry: LogEntry, from file: String) {
        let name = entry.worker ?? file
        let worker = workers[name] != nil || workers.count < Self.mostWorkers ? name : Tally.other
        if last - entry.time > Self.disorder { wentBack = true }
        first = min(first ?? entry.time, entry.time)
        last = max(last, entry.time)
        entries += 1
        events.add(entry.event)
        if entry.severity >= .warning || entry.event == Problem.suppressed { note(problem: entry) }

        // If other lines of the file name their worker, a line without a name belongs to no worker.
        if entry.worker != nil || entry.event == WorkerStats.event {
            workers[worker, default: WorkerRecord(at: entry.time)].note(at: entry.time)
        }
        incidents.note(entry, of: worker)
        switch entry.event {
        case WorkerStats.event:
            if let stats = WorkerStats(entry) { add(stats, of: worker, at: entry.time) }
        // An older worker's event does not name its worker; then the heartbeats show the pauses, if only the longer
        // ones.
        case "provider.paused" where entry.worker != nil:
            if let provider = entry.fields.text("provider") { pauses.pause(provider.cut, by: worker, at: entry.time) }
        case "provider.resumed" where entry.worker != nil:
            if let provider = entry.fields.text("provider") { pauses.resume(provider.cut, by: worker, at: entry.time) }
        // In a container, a restarted worker may have the name of its predecessor.
        case RouteTable.event: routes.note(entry.fields)
        case "worker.started": workers[worker]?.hasStopped = false
        case _ where entry.isWorkerEnd: workers[worker]?.hasStopped = true
        default: break
        }
    }

    /// Ends everything that is still open at the end of the log.
    package mutating func finish() {
        let workers = workers
        let last = last
        pauses.finish { workers[$0]?.last ?? last }
        incidents.finish(at: last) { workers[$0]?.last ?? last }
        let starts = Dictionary(grouping: workers, by: { Self.host(of: $0.key) }).mapValues { $0.map(\.value.first) }
        for (name, worker) in workers.sorted(by: { $0.key < $1.key }) {
            let successor = starts[Self.host(of: name)]?.filter { $0 >= worker.last && $0 > worker.first }.min()
            self.workers[name]?.finish(successor: successor, end: last)
            incidents.add(self.workers[name]?.gaps ?? [], of: name)
        }
    }

    /// The host in a worker's name, whose last part is the number of its process.
    private static func host(of worker: String) -> Substring {
        worker.prefix(upTo: worker.lastIndex(of: "-") ?? worker.endIndex)
    }

    private mutating func note(problem entry: LogEntry) {
        var kind = Problem.kind(of: entry)
        if problems[kind] == nil, problems.count >= Self.mostProblems {
            kind = Problem.Kind(severity: entry.severity, event: Tally.other, detail: "")
        }
        problems[kind, default: Problem(kind, at: entry.time)].note(entry)
    }
}

// MARK: - Heartbeats

extension FleetHistory {
    private mutating func add(_ stats: WorkerStats, of worker: String, at time: Timestamp) {
        heartbeats += 1
        workers[worker]?.note(stats, at: time)
        requests += stats.requests
        repeats += stats.repeats
        deadLetters += stats.deadLetters
        decisions.add(stats.decisions)
        rules.add(stats.rules)
        retries.add(stats.errors)
        brakeRefused += stats.brake["refused"] ?? 0
        brakeRecorded += stats.brake["recorded"] ?? 0
        mostBlocked = max(mostBlocked, stats.brake["blocked"] ?? 0)
        for (currency, spend) in stats.spend {
            self.spend.add(currency, spend.amount)
            for (region, amount) in spend.regions { spendByRegion.add("\(region), \(currency)", amount) }
            for (budget, amount) in spend.budgets { spendByBudget.add("\(budget), \(currency)", amount) }
        }
        for (region, outcomes) in stats.regions { regions.add(outcomes, to: region) }
        for (name, provider) in stats.providers {
            providers.add(provider.outcomes, to: name)
            if provider.isPaused {
                pauses.pause(name, by: worker, at: time)
            } else {
                pauses.resume(name, by: worker, at: time)
            }
        }
        lag.take(stats.lag, from: worker, at: time)
        addToTimeline(stats, at: time)
    }

    private mutating func addToTimeline(_ stats: WorkerStats, at time: Timestamp) {
        let interval = max(stats.believedInterval, .milliseconds(1))
        let statuses = stats.decisions.map { (name: decisions.place(of: $0.key), count: $0.value) }
        let amounts = stats.spend.map { (name: spend.place(of: $0.key), money: $0.value.amount) }
        timeline.spread(from: time - interval, to: time) { bucket, share in
            bucket.requests += stats.requests * share
            for status in statuses { bucket.decisions[status.name, default: 0] += status.count * share }
            for amount in amounts where amount.money > 0 {
                bucket.spend[amount.name, default: 0] += amount.money * share
            }
        }
        let waiting = lag.total(at: time)
        let latencies = stats.latencies.mapValues { LatencySummary($0) }
            .filter { self.latencies[$0.key] != nil || self.latencies.count < Self.mostStages }
        self.latencies.merge(latencies) { $0.merged(with: $1) }

        // A heartbeat covers the time before it, so it belongs to the bucket in which that time ends.
        timeline.update(at: time - .microseconds(1)) { bucket in
            bucket.latencies.merge(latencies) { $0.merged(with: $1) }
            bucket.lag = [bucket.lag, waiting].compactMap(\.self).max()
            bucket.dueSends = [bucket.dueSends, stats.dueSends].compactMap(\.self).max()
            bucket.outbox = [bucket.outbox, stats.outbox].compactMap(\.self).max()
        }
    }
}

/// The fleet's lag, from the last report of each partition.
struct FleetLag {
    private struct Saying {
        let records: Double
        let worker: String
        let time: Timestamp
    }

    private static let mostPartitions = 10_000

    private var sayings: [String: Saying] = [:]

    /// Replaces a worker's reports by those of a new heartbeat.
    ///
    /// A heartbeat lists only the partitions that are furthest behind: one that has caught up is missing.
    mutating func take(_ lag: [String: Double], from worker: String, at time: Timestamp) {
        for (partition, saying) in sayings where saying.worker == worker && lag[partition] == nil {
            sayings[partition] = nil
        }
        for (partition, records) in lag where sayings[partition] != nil || sayings.count < Self.mostPartitions {
            sayings[partition] = Saying(records: records, worker: worker, time: time)
        }
    }

    /// The sum over all partitions at a time; nil before any report.
    ///
    /// When logs follow each other, reports of a later time are left out.
    func total(at time: Timestamp) -> Double? {
        var sum: Double?
        for saying in sayings.values where saying.time <= time { sum = (sum ?? 0) + saying.records }
        return sum
    }
}

/// The times covered by heartbeats of any worker, as merged ranges in bounded memory.
struct Coverage {
    /// The maximum number of ranges; beyond it, ranges with short gaps between them are merged.
    static let most = 1000

    /// The ranges, sorted and disjoint.
    private(set) var ranges: [Range<Timestamp>] = []

    /// The longest gap that is ignored: a worker writes a heartbeat a moment after the interval that it covers.
    private var slack = Duration.milliseconds(100)

    mutating func add(_ range: Range<Timestamp>) {
        // A new range is usually the latest, so both searches start at the end.
        let first = (ranges.lastIndex { $0.upperBound + slack < range.lowerBound } ?? -1) + 1
        let end = (ranges.lastIndex { $0.lowerBound <= range.upperBound + slack } ?? -1) + 1
        let touched = ranges[first..<end]
        let from = min(range.lowerBound, touched.first?.lowerBound ?? range.lowerBound)
        let to = max(range.upperBound, touched.last?.upperBound ?? range.upperBound)
        ranges.replaceSubrange(first..<end, with: [from..<to])
        while ranges.count > Self.most { join() }
    }

    /// Doubles the ignored gap and merges the ranges that are no further apart.
    private mutating func join() {
        slack = slack * 2
        ranges = ranges.reduce(into: []) { joined, range in
            if let last = joined.last, range.lowerBound - last.upperBound <= slack {
                joined[joined.count - 1] = last.lowerBound..<range.upperBound
            } else {
                joined.append(range)
            }
        }
    }

    /// The covered seconds of a time range.
    func seconds(in time: Range<Timestamp>) -> Double {
        let microseconds = ranges.reduce(Int64(0)) { sum, range in
            let part = range.clamped(to: time)
            return sum + (part.upperBound - part.lowerBound).microseconds
        }
        return Double(microseconds) / 1e6
    }
}
