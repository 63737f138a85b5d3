// SPDX-License-Identifier: Apache-2.0

import Formats

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
