// SPDX-License-Identifier: Apache-2.0

import Formats

/// The life of one worker, from its lines.
struct WorkerRecord {
    struct Gap: Equatable {
        let from: Timestamp
        let to: Timestamp

        /// True if the worker had stopped in good order.
        var hasStopped = false

        /// False for a gap until the end of the log.
        var isOver = true

        var length: Duration { to - from }
    }

    private(set) var first: Timestamp
    private(set) var last: Timestamp
    private(set) var heartbeats = 0
    private(set) var requests = 0.0

    /// The uptime at the last heartbeat, counted from the process's start.
    private(set) var uptime: Duration?
    private(set) var peakBytes: Double?
    private(set) var gaps: [Gap] = []
    private(set) var cpuSeconds = 0.0
    private(set) var coveredSeconds = 0.0
    private var lastHeartbeat: Timestamp?
    private var interval = Duration.zero

    /// True when the worker ended and has not started again.
    var hasStopped = false

    /// The maximum number of stored gaps, more than a reader needs.
    private static let mostGaps = 1000

    init(at time: Timestamp) {
        first = time
        last = time
    }

    mutating func note(at time: Timestamp) {
        first = min(first, time)
        last = max(last, time)
    }

    /// Adds the gap after the last line, up to the start of the worker's successor or the end of the log.
    mutating func finish(successor: Timestamp?, end: Timestamp) {
        let to = successor ?? end
        guard heartbeats > 0, to - last > interval * 3, gaps.count < Self.mostGaps else { return }
        gaps.append(Gap(from: last, to: to, hasStopped: hasStopped, isOver: successor != nil))
    }

    /// Adds a heartbeat; one more than three intervals after the previous one ends a gap.
    mutating func note(_ stats: WorkerStats, at time: Timestamp) {
        if let before = lastHeartbeat, time - before > stats.interval * 3, gaps.count < Self.mostGaps {
            gaps.append(Gap(from: before, to: time))
        }
        lastHeartbeat = time
        interval = stats.believedInterval
        hasStopped = false
        heartbeats += 1
        requests += stats.requests
        uptime = stats.uptime ?? uptime
        peakBytes = [peakBytes, stats.residentBytes].compactMap(\.self).max()
        cpuSeconds += Double((stats.cpu ?? .zero).microseconds) / 1e6
        coveredSeconds += Double(stats.interval.microseconds) / 1e6
    }
}
