// SPDX-License-Identifier: Apache-2.0

/// The records that were read and not handed out yet, in order.
struct RecordBuffer {
    private let limits: ConsumerLimits

    /// The records from index `start`, after handed-out ones; those are removed when they are as many as the rest.
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

    /// True when reading can resume.
    var hasRoom: Bool { count <= limits.lowWater && bytes <= limits.maximumBytes / 2 }

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

    /// The number of records at which reading resumes, always below `highWater`.
    package let lowWater: Int

    /// The number of bytes at which reading stops; it resumes at half of them.
    package let maximumBytes: Int

    package init(highWater: Int = 2000, lowWater: Int = 1000, maximumBytes: Int = 32 << 20) {
        self.highWater = max(highWater, 1)
        self.lowWater = min(max(lowWater, 0), self.highWater - 1)
        self.maximumBytes = max(maximumBytes, 1)
    }
}

/// Decides when to stop reading and when to resume.
///
/// When the buffer is full, reading first holds: the client's queue is not polled, which costs nothing, since a busy
/// program frees the buffer within milliseconds. A hold longer than `maxWait` pauses the partitions, so that the queue
/// can be polled again. Polling keeps the member in its group, and a pause makes the client drop its prefetched
/// records.
struct FlowControl {
    enum Mode: Hashable {
        /// Reads records. Exits: `holding` when the buffer is full.
        case flowing

        /// Does not poll. Exits: `flowing` when the buffer has space, `paused` after `maxWait`.
        case holding(since: ContinuousClock.Instant)

        /// Polls without records. Exits: `flowing` when the buffer has space.
        case paused
    }

    enum Action: Hashable {
        case nothing, pause, resume
    }

    static let maxWait = Duration.milliseconds(500)

    private(set) var mode = Mode.flowing

    mutating func update(isFull: Bool, hasRoom: Bool, now: ContinuousClock.Instant) -> Action {
        switch mode {
        case .flowing:
            if isFull { mode = .holding(since: now) }
            return .nothing
        case .holding(let since):
            if hasRoom {
                mode = .flowing
                return .nothing
            }
            guard since.duration(to: now) >= Self.maxWait else { return .nothing }
            mode = .paused
            return .pause
        case .paused:
            guard hasRoom else { return .nothing }
            mode = .flowing
            return .resume
        }
    }

    mutating func reset() {
        mode = .flowing
    }
}
