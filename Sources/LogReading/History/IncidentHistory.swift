// SPDX-License-Identifier: Apache-2.0

import Formats

/// Outages and other faults over all workers, each from the line that begins it to the line that ends it.
struct IncidentHistory {
    struct Incident: Equatable {
        /// The event that began it.
        let event: String

        /// The fields of its first line that show its cause.
        let detail: String
        let from: Timestamp

        /// Nil if it still lasts at the end of the log.
        fileprivate(set) var to: Timestamp?
        fileprivate(set) var workers: Set<String>
    }

    private struct Key: Hashable {
        let event: String

        /// The provider or the topic.
        let subject: String
    }

    /// The maximum number of stored incidents; further ones are only counted.
    static let most = 500

    /// The longest time without the fault that does not divide an incident.
    private static let shortestCalm = Duration.seconds(30)

    /// The time after which a worker without lines no longer counts as affected by a fault.
    private static let longestSilence = Duration.seconds(60)

    /// The events that begin an incident, by the event that ends it.
    private static let beginnings = [
        "postgres.recovered": ["postgres.failing"],
        "kafka.recovered": ["kafka.unreachable"],
        "kafka.reads_again": ["kafka.cannot_read"],
        "receipts.recovered": ["receipts.unreachable"],
        "receipts.reads_again": ["receipts.cannot_read"],
        "publish.recovered": ["publish.refused"],
        "provider.resumed": ["provider.paused", "route.dead"],
        "clock.right": ["clock.off", "clock.held"],
        "policy.reloaded": ["policy.refused"],
        "secrets.reloaded": ["secrets.refused"],
    ]
    private static let allBeginnings = Set(beginnings.values.joined())

    private(set) var incidents: [Incident] = []
    private(set) var omitted = 0

    /// The place of each key's latest incident.
    private var places: [Key: Int] = [:]

    /// The workers on which an incident still lasts.
    private var affected: [Key: Set<String>] = [:]

    mutating func note(_ entry: LogEntry, of worker: String) {
        let subject = (entry.fields.text("provider") ?? entry.fields.text("topic") ?? "").cut
        if Self.allBeginnings.contains(entry.event) {
            begin(Key(event: entry.event, subject: subject), entry, worker)
        }
        for event in Self.beginnings[entry.event] ?? [] {
            end(Key(event: event, subject: subject), worker, at: entry.time)
        }
        if entry.isWorkerEnd || entry.event == "worker.started" {
            for key in Array(affected.keys) { end(key, worker, at: entry.time) }
        }
    }

    private mutating func begin(_ key: Key, _ entry: LogEntry, _ worker: String) {
        if let place = places[key], incidents[place].to.map({ entry.time - $0 < Self.shortestCalm }) ?? true {
            incidents[place].to = nil
            incidents[place].workers.insert(worker)
        } else if incidents.count < Self.most {
            places[key] = incidents.count
            let detail = Problem.kind(of: entry).detail
            incidents.append(Incident(event: key.event, detail: detail, from: entry.time, workers: [worker]))
        } else {
            omitted += 1
            return
        }
        affected[key, default: []].insert(worker)
    }

    private mutating func end(_ key: Key, _ worker: String, at time: Timestamp) {
        guard var workers = affected[key], workers.remove(worker) != nil, let place = places[key] else { return }
        affected[key] = workers.isEmpty ? nil : workers
        if workers.isEmpty { incidents[place].to = max(incidents[place].from, time) }
    }

    /// Ends the incidents of workers that have disappeared, at the last line of each.
    mutating func finish(at end: Timestamp, lastSeen: (_ worker: String) -> Timestamp) {
        for (key, workers) in affected {
            guard let place = places[key], let last = workers.map(lastSeen).max() else { continue }
            if end - last > Self.longestSilence { incidents[place].to = max(incidents[place].from, last) }
        }
    }

    /// Adds the times without a worker's heartbeat.
    mutating func add(_ gaps: [WorkerRecord.Gap], of worker: String) {
        for gap in gaps {
            guard incidents.count < Self.most else {
                omitted += 1
                continue
            }
            incidents.append(
                Incident(
                    event: gap.hasStopped ? "worker.stopped" : "worker.silent",
                    detail: "",
                    from: gap.from,
                    to: gap.isOver ? gap.to : nil,
                    workers: [worker]
                )
            )
        }
    }
}

/// The pauses of providers, from workers' events or, where those are missing, from their heartbeats.
struct PauseHistory {
    struct Pause: Equatable {
        let provider: String
        let worker: String
        let from: Timestamp
        let to: Timestamp
    }

    private struct Key: Hashable {
        let provider: String
        let worker: String
    }

    /// The maximum number of stored pauses; further ones are only counted.
    static let most = 5000

    private(set) var pauses: [Pause] = []
    private(set) var omitted = 0
    private var open: [Key: Timestamp] = [:]

    mutating func pause(_ provider: String, by worker: String, at time: Timestamp) {
        let key = Key(provider: provider, worker: worker)
        guard open[key] == nil, open.count < Self.most else { return }
        open[key] = time
    }

    mutating func resume(_ provider: String, by worker: String, at time: Timestamp) {
        guard let from = open.removeValue(forKey: Key(provider: provider, worker: worker)) else { return }
        end(Pause(provider: provider, worker: worker, from: from, to: max(from, time)))
    }

    /// Ends open pauses at their worker's last line, since their real end is unknown.
    mutating func finish(lastSeen: (_ worker: String) -> Timestamp) {
        for (key, from) in open.sorted(by: { $0.value < $1.value }) {
            let to = max(from, lastSeen(key.worker))
            end(Pause(provider: key.provider, worker: key.worker, from: from, to: to))
        }
        open = [:]
    }

    private mutating func end(_ pause: Pause) {
        if pauses.count < Self.most { pauses.append(pause) } else { omitted += 1 }
    }
}
