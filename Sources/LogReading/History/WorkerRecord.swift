// SPDX-License-Identifier: Apache-2.0

import Verification

/// What one worker's lines say of its life.
struct WorkerRecord {
    struct Gap: Equatable {
        let from: Timestamp
        let to: Timestamp
    }

    private(set) var first: Timestamp
    private(set) var last: Timestamp
    private(set) var heartbeats = 0
    private(set) var requests = 0.0

    /// From the last heartbeat, which counts from the process's start.
    private(set) var uptime: Duration?
    private(set) var peakBytes: Double?
    private(set) var gaps: [Gap] = []
    private(set) var cpuSeconds = 0.0
    private(set) var coveredSeconds = 0.0
    private var lastHeartbeat: Timestamp?

    /// Whether its last end has no beginning after it.
    var hasStopped = false

    /// More are of no use to a reader.
    private static let mostGaps = 1000

    init(at time: Timestamp) {
        first = time
        last = time
    }

    mutating func note(at time: Timestamp) {
        first = min(first, time)
        last = max(last, time)
    }

    /// Takes a heartbeat; one that comes later than three intervals after the one before ends a gap.
    mutating func note(_ stats: WorkerStats, at time: Timestamp) {
        if let before = lastHeartbeat, time - before > stats.interval * 3, gaps.count < Self.mostGaps {
            gaps.append(Gap(from: before, to: time))
        }
        lastHeartbeat = time
        hasStopped = false
        heartbeats += 1
        requests += stats.requests
        uptime = stats.uptime ?? uptime
        peakBytes = [peakBytes, stats.residentBytes].compactMap(\.self).max()
        cpuSeconds += Double((stats.cpu ?? .zero).microseconds) / 1e6
        coveredSeconds += Double(stats.interval.microseconds) / 1e6
    }
}
