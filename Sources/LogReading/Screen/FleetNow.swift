// SPDX-License-Identifier: Apache-2.0

package import Verification

/// What a fleet does at present: the heartbeats of the last minute, and the last lines that tell of trouble.
package struct FleetNow {
    struct Worker {
        struct Heartbeat {
            let time: Timestamp
            let stats: WorkerStats
        }

        /// Those of the last minute, and always the last; never empty.
        fileprivate(set) var recent: [Heartbeat]
        fileprivate(set) var hasStopped = false

        /// When its last heartbeat came, by the log's time: its own clock may go wrong.
        fileprivate(set) var heardAt: Timestamp

        var last: Heartbeat { recent[recent.count - 1] }

        /// The seconds that the recent heartbeats tell of.
        var seconds: Double { recent.reduce(0) { $0 + max(0.001, Double($1.stats.interval.microseconds) / 1e6) } }

        /// Whether three heartbeats are missing.
        func isSilent(at now: Timestamp) -> Bool {
            !hasStopped && now - heardAt > max(last.stats.believedInterval, .seconds(1)) * 3
        }

        /// How many times a second something happened in the last minute, or in the last interval where that is longer.
        func rate(_ count: (WorkerStats) -> Double) -> Double {
            recent.reduce(0) { $0 + count($1.stats) } / seconds
        }
    }

    /// Rates are means of this time.
    static let window = Duration.seconds(60)

    /// Who stopped or fell silent is shown for so long, and in any case for some of its intervals.
    private static let memory = Duration.seconds(300)
    private static let mostWorkers = 2000

    private(set) var workers: [String: Worker] = [:]
    package private(set) var newest: Timestamp?

    /// The last warning or error.
    private(set) var trouble: LogEntry?

    package init() {}

    /// Takes an entry; true when it is a heartbeat.
    ///
    /// No line of the future makes all others old: the machine's clock, where it is told, bounds what is the newest.
    /// `now` is the log's time as it was before the entry: a `LogClock` goes on where no line is newer.
    @discardableResult
    package mutating func add(_ entry: LogEntry, clock: Timestamp? = nil, now: Timestamp? = nil) -> Bool {
        let time = clock.map { min(entry.time, $0 + .seconds(60)) } ?? entry.time
        let newest = max(newest ?? time, time)
        self.newest = newest
        let heardAt = max(newest, now ?? newest)
        // That lines were held back says nothing new, and would hide what does.
        if entry.severity >= .warning, entry.event != Problem.suppressed { trouble = entry }
        if entry.tellsAnEnd, let name = entry.worker { workers[name]?.hasStopped = true }
        guard let stats = WorkerStats(entry) else { return false }
        let name = entry.worker ?? "worker"
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

    /// Forgets who has been away for long.
    package mutating func forget(at now: Timestamp) {
        workers = workers.filter { now - $0.value.heardAt < max(Self.memory, $0.value.last.stats.believedInterval * 6) }
    }
}

// MARK: - The fleet

extension FleetNow {
    /// Those that are there.
    func live(at now: Timestamp) -> [Worker] {
        workers.values.filter { !$0.hasStopped && !$0.isSilent(at: now) }
    }

    /// Records that wait, by the last that any worker said of each partition.
    var lag: [String: Double] {
        workers.values.sorted { $0.last.time < $1.last.time }
            .reduce(into: [:]) { lag, worker in lag.merge(worker.last.stats.lag) { $1 } }
    }

    /// Topics that workers cannot use, and how many of them say so.
    func topicFaults(at now: Timestamp) -> [(sentence: String, workers: Int)] {
        live(at: now).reduce(into: [:]) { counts, worker in
            for fault in Set(worker.last.stats.topicFaults) { counts[fault, default: 0] += 1 }
        }
        .map { ($0.key, $0.value) }.sorted { $0.0 < $1.0 }
    }

    /// Latencies of the last minute by stage.
    func latencies(at now: Timestamp) -> [String: LatencySummary] {
        live(at: now).flatMap(\.recent).reduce(into: [:]) { sums, heartbeat in
            sums.merge(heartbeat.stats.latencies.mapValues { LatencySummary($0) }) { $0.merged(with: $1) }
        }
    }

    /// Refusals a minute by reason.
    func rules(at now: Timestamp) -> Tally {
        live(at: now).reduce(into: Tally()) { tally, worker in
            let seconds = worker.seconds
            for heartbeat in worker.recent { tally.add(heartbeat.stats.rules.mapValues { $0 * 60 / seconds }) }
        }
    }

    /// Providers by name, with the rates of their answers and what the live workers' breakers say.
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

/// One provider as all live workers see it together.
struct ProviderNow {
    let name: String
    var rates: [String: Double] = [:]
    private(set) var workers = 0
    private(set) var pausing = 0

    /// Those whose next message asks it again.
    private(set) var probing = 0
    private(set) var score: Double?

    init(name: String) {
        self.name = name
    }

    /// Takes what one worker says; the lowest score is the one to look at.
    fileprivate mutating func note(_ provider: WorkerStats.Provider) {
        workers += 1
        if provider.isPaused { pausing += 1 }
        if provider.isProbed { probing += 1 }
        score = [score, provider.score].compactMap(\.self).min()
    }
}
