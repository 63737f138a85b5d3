// SPDX-License-Identifier: Apache-2.0

import Verification

/// How many records wait, by what was last said of each partition, by whom and when.
struct FleetLag {
    private struct Saying {
        let records: Double
        let worker: String
        let time: Timestamp
    }

    private static let mostPartitions = 10_000

    private var sayings: [String: Saying] = [:]

    /// Takes what a worker says of its partitions in place of what it said before.
    ///
    /// A heartbeat lists those that are furthest behind: of one that has caught up it says nothing any more.
    mutating func take(_ lag: [String: Double], from worker: String, at time: Timestamp) {
        for (partition, saying) in sayings where saying.worker == worker && lag[partition] == nil {
            sayings[partition] = nil
        }
        for (partition, records) in lag where sayings[partition] != nil || sayings.count < Self.mostPartitions {
            sayings[partition] = Saying(records: records, worker: worker, time: time)
        }
    }

    /// The sum of all partitions as it was known then; nil when nothing was.
    ///
    /// Where logs come one after the other, what earlier ones say of a later time is no part of it.
    func total(at time: Timestamp) -> Double? {
        var sum: Double?
        for saying in sayings.values where saying.time <= time { sum = (sum ?? 0) + saying.records }
        return sum
    }
}
