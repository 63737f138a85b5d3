// SPDX-License-Identifier: Apache-2.0

/// The records that were read and not handed out yet, in order.
struct RecordBuffer {
    private let limits: ConsumerLimits

    /// The records from index `start`, after handed-out ones; handed-out ones are removed when they are at least half.
    private(set) var records: [ConsumerRecord] = []
    private var start = 0
    private(set) var bytes = 0
    var topicNames = TopicNames()

    init(limits: ConsumerLimits) {
        self.limits = limits
    }

    var count: Int { records.count - start }
    var isEmpty: Bool { count == 0 }

    /// True when reading must stop.
    var isFull: Bool { count >= limits.highWater || bytes >= limits.maximumBytes }

    mutating func append(_ record: ConsumerRecord) {
        records.append(record)
        bytes += record.size
    }

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

    var firstRecords: [TopicPartition: ConsumerRecord] {
        var oldest: [TopicPartition: ConsumerRecord] = [:]
        for record in records[start...].reversed() {
            oldest[TopicPartition(topic: record.topic, partition: record.partition)] = record
        }
        return oldest
    }
}

/// Limits of the records that a consumer keeps in memory for a busy program.
package struct ConsumerLimits: Hashable, Sendable {
    /// The number of records at which reading stops.
    package let highWater: Int

    /// The number of bytes at which reading stops.
    package let maximumBytes: Int

    package init(highWater: Int = 2000, maximumBytes: Int = 32 << 20) {
        self.highWater = max(highWater, 1)
        self.maximumBytes = max(maximumBytes, 1)
    }
}
