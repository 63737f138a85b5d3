// SPDX-License-Identifier: Apache-2.0

package import Formats

/// The present state of a fleet: the heartbeats of the last minute, and the last warning or error.
package struct FleetNow {
    struct Worker {
        struct Heartbeat {
            let time: Timestamp
            let stats: WorkerStats
        }

        /// The heartbeats of the last minute, or at least the last one; never empty.
        fileprivate(set) var recent: [Heartbeat]
        fileprivate(set) var hasStopped = false

        /// The time at which the last heartbeat arrived, by the log's clock, since the worker's own may be wrong.
        fileprivate(set) var heardAt: Timestamp

        var last: Heartbeat { recent[recent.count - 1] }

        /// The seconds covered by the recent heartbeats.
        var seconds: Double { recent.reduce(0) { $0 + max(0.001, Double($1.stats.interval.microseconds) / 1e6) } }

        /// True when three heartbeats are missing.
        func isSilent(at now: Timestamp) -> Bool {
            !hasStopped && now - heardAt > max(last.stats.believedInterval, .seconds(1)) * 3
        }

        /// The rate of a count in events a second, over the last minute or, where longer, the last interval.
        func rate(_ count: (WorkerStats) -> Double) -> Double {
            recent.reduce(0) { $0 + count($1.stats) } / seconds
        }
    }

    /// The window of the rates.
    static let window = Duration.seconds(60)

    /// The minimum time for which a stopped or silent worker is shown.
    private static let memory = Duration.seconds(300)
    private static let mostWorkers = 2000

    private(set) var workers: [String: Worker] = [:]
    package private(set) var newest: Timestamp?

    /// The last warning or error.
    private(set) var trouble: LogEntry?

    /// The fault in the last refused policy, by worker, until the worker loads another policy.
    private var refusedPolicies: [String: String] = [:]

    package init() {}

    /// Adds an entry; true when it is a heartbeat.
    ///
    /// `clock` is the machine's clock, if known: it bounds the newest time, so that one line from the future does not
    /// make all others old. `now` is the log's time before the entry, since a `LogClock` advances even if no line is
    /// newer.
    @discardableResult
    package mutating func add(_ entry: LogEntry, clock: Timestamp? = nil, now: Timestamp? = nil) -> Bool {
        let time = clock.map { min(entry.time, $0 + .seconds(60)) } ?? entry.time
        let newest = max(newest ?? time, time)
        self.newest = newest
        let heardAt = max(newest, now ?? newest)
        // A report of suppressed lines adds nothing, and would hide the problem itself.
        if entry.severity >= .warning, entry.event != Problem.suppressed { trouble = entry }
        if entry.isWorkerEnd, let name = entry.worker { workers[name]?.hasStopped = true }
        let name = entry.worker ?? "worker"
        switch entry.event {
        case "policy.refused" where refusedPolicies.count < Self.mostWorkers:
            refusedPolicies[name] = (entry.fields.text("fault") ?? "").cut(512)
        case "policy.loaded", "policy.reloaded", "worker.started": refusedPolicies[name] = nil
        default: break
        }
        guard let stats = WorkerStats(entry) else { return false }
        let heartbeat = Worker.Heartbeat(time: entry.time, stats: stats)
        if var worker = workers[name] {
            worker.recent.append(heartbeat)
            worker.recent.removeAll { heartbeat.time - $0.time >= Self.window || $0.time > heartbeat.time }
            worker.hasStopped = false
            worker.heardAt = heardAt
            workers[name] = worker
        } else if workers.count < Self.mostWorkers {
            workers[name] = Worker(recent: [heartbeat], heardAt: heardAt)
        }
        return true
    }

    /// Removes workers that have been silent for long.
    package mutating func forget(at now: Timestamp) {
        for (name, worker) in workers
        where now - worker.heardAt >= max(Self.memory, worker.last.stats.believedInterval * 6) {
            workers[name] = nil
            refusedPolicies[name] = nil
        }
    }
}

// MARK: - The fleet

extension FleetNow {
    /// The workers that are neither stopped nor silent.
    func live(at now: Timestamp) -> [Worker] {
        workers.values.filter { !$0.hasStopped && !$0.isSilent(at: now) }
    }

    /// The lag by partition, from the last report of each.
    var lag: [String: Double] {
        workers.values.sorted { $0.last.time < $1.last.time }
            .reduce(into: [:]) { lag, worker in lag.merge(worker.last.stats.lag) { $1 } }
    }

    /// The topics that workers cannot use, with the number of workers that report each.
    func topicFaults(at now: Timestamp) -> [(sentence: String, workers: Int)] {
        live(at: now).reduce(into: [:]) { counts, worker in
            for fault in Set(worker.last.stats.topicFaults) { counts[fault, default: 0] += 1 }
        }
        .map { ($0.key, $0.value) }.sorted { $0.0 < $1.0 }
    }

    /// The policy faults that live workers reported, with the number of workers for each.
    func policyFaults(at now: Timestamp) -> [(fault: String, workers: Int)] {
        let live = refusedPolicies.filter { name, _ in
            workers[name].map { !$0.hasStopped && !$0.isSilent(at: now) } ?? false
        }
        return Dictionary(grouping: live.values) { $0 }.map { ($0.key, $0.value.count) }.sorted { $0.0 < $1.0 }
    }

    /// The latencies of the last minute by stage.
    func latencies(at now: Timestamp) -> [String: LatencySummary] {
        live(at: now).flatMap(\.recent).reduce(into: [:]) { sums, heartbeat in
            sums.merge(heartbeat.stats.latencies.mapValues { LatencySummary($0) }) { $0.merged(with: $1) }
        }
    }

    /// The rejections a minute by rule.
    func rules(at now: Timestamp) -> Tally {
        live(at: now).reduce(into: Tally()) { tally, worker in
            let seconds = worker.seconds
            for heartbeat in worker.recent { tally.add(heartbeat.stats.rules.mapValues { $0 * 60 / seconds }) }
        }
    }

    /// The providers by name, with the rates of their answers and the breaker states of the live workers.
    func providers(at now: Timestamp) -> [ProviderNow] {
        var providers: [String: ProviderNow] = [:]
        for worker in live(at: now) {
            let seconds = worker.seconds
            for heartbeat in worker.recent {
                for (name, provider) in heartbeat.stats.providers {
                    let rates = provider.outcomes.mapValues { $0 / seconds }
                    providers[name, default: ProviderNow(name: name)].rates.merge(rates, uniquingKeysWith: +)
                }
            }
            for (name, provider) in worker.last.stats.providers {
                providers[name, default: ProviderNow(name: name)].note(provider)
            }
        }
        return providers.values.sorted { $0.name < $1.name }
    }
}

/// The state of one provider over all live workers.
struct ProviderNow {
    let name: String
    var rates: [String: Double] = [:]
    private(set) var workers = 0
    private(set) var pausing = 0

    /// The number of workers whose next message probes the provider.
    private(set) var probing = 0
    private(set) var score: Double?

    init(name: String) {
        self.name = name
    }

    /// Adds one worker's state; of the scores, the lowest counts.
    fileprivate mutating func note(_ provider: WorkerStats.Provider) {
        workers += 1
        if provider.isPaused { pausing += 1 }
        if provider.isProbed { probing += 1 }
        // An older worker reports a score even while its circuit is open.
        score = [score, provider.isPaused || provider.isProbed ? 0 : provider.score].compactMap(\.self).min()
    }
}

/// The log's own time: the time of its newest line plus the time passed since, so that it advances without new lines.
///
/// It never goes back: lines that are no newer, such as another program's, neither stop it nor set it back.
package struct LogClock {
    private var setting: (time: Timestamp, at: ContinuousClock.Instant)?

    package init() {}

    /// Advances the clock to the time of the newest line.
    package mutating func reach(_ newest: Timestamp, at instant: ContinuousClock.Instant) {
        if let now = now(at: instant), now >= newest { return }
        setting = (newest, instant)
    }

    /// The current time; nil before the first line.
    package func now(at instant: ContinuousClock.Instant) -> Timestamp? {
        setting.map { $0.time + $0.at.duration(to: instant) }
    }
}
