// SPDX-License-Identifier: Apache-2.0

/// Records that were read and not handed out yet, in the order of reading.
struct RecordBuffer {
    private let limits: ConsumerLimits

    /// Those from `start` on, behind fewer than as many that are handed out already.
    private(set) var records: [ConsumerRecord] = []
    private var start = 0
    private(set) var bytes = 0

    init(limits: ConsumerLimits) {
        self.limits = limits
    }

    var count: Int { records.count - start }
    var isEmpty: Bool { count == 0 }

    /// True when nothing more should be read.
    var isFull: Bool { count >= limits.highWater || bytes >= limits.maximumBytes }

    /// True when reading should go on.
    var hasRoom: Bool { count <= limits.lowWater && bytes <= limits.maximumBytes / 2 }

    mutating func append(_ record: ConsumerRecord) {
        records.append(record)
        bytes += record.size
    }

    /// Removes and returns the oldest records, at most so many.
    mutating func take(_ maximum: Int) -> [ConsumerRecord] {
        let taken = Array(records[start...].prefix(maximum))
        start += taken.count
        bytes -= taken.reduce(0) { $0 + $1.size }
        if start >= count {
            records.removeSubrange(..<start)
            start = 0
        }
        return taken
    }

    mutating func removeAll() {
        records.removeAll()
        start = 0
        bytes = 0
    }

    /// The oldest record of each partition.
    var firstRecords: [TopicPartition: ConsumerRecord] {
        var oldest: [TopicPartition: ConsumerRecord] = [:]
        for record in records[start...].reversed() {
            oldest[TopicPartition(topic: record.topic, partition: record.partition)] = record
        }
        return oldest
    }
}
