// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials

/// Since when partitions are known to have records that nobody read, where no such record is at hand to tell its age.
struct LagWatch {
    private var behind: [TopicPartition: (position: Int64, since: ContinuousClock.Instant)] = [:]

    /// Takes one look, and returns how long a partition has not moved with something before it.
    mutating func age(
        of partition: TopicPartition,
        at position: Int64,
        lag: Int64,
        now: ContinuousClock.Instant
    ) -> Duration {
        guard lag > 0 else {
            behind[partition] = nil
            return .zero
        }
        if let known = behind[partition], known.position == position { return now - known.since }
        behind[partition] = (position, now)
        return .zero
    }
}

extension KafkaConsumer {
    /// How far each owned partition's end is from what was handed out.
    ///
    /// The end is the high watermark, so what stands behind an open transaction counts. The position is behind marks of
    /// transactions and aborted records as soon as the partition was read to its end. Brokers are asked while reading is
    /// paused, since fetches tell of ends then no more. A partition of which too little is known is left out.
    package func lag() -> [PartitionLag] {
        let unread = buffer.firstRecords
        let end = ContinuousClock.now + Self.questionLimit
        return assignment.partitions.compactMap { partition in
            var last = handle?.cachedEnd(of: partition)
            let left = end - .now
            if flow.mode == .paused, left > .zero, let asked = try? handle?.bounds(of: partition, within: left) {
                last = max(asked.upperBound, last ?? 0)
            }
            let first = unread[partition]
            let position =
                first?.offset ?? assignment.position(of: partition) ?? lossWatch.position(of: partition)
            guard let last, let position else { return nil }
            let lag = max(0, last.subtractingReportingOverflow(position).partialValue)
            let known = lagWatch.age(of: partition, at: position, lag: lag, now: .now)
            return PartitionLag(
                topic: partition.topic,
                partition: partition.partition,
                lag: lag,
                age: lag > 0 ? max(known, first.flatMap(Self.age(of:)) ?? .zero) : .zero
            )
        }
    }

    /// Nil for a record without a time.
    private static func age(of record: ConsumerRecord) -> Duration? {
        guard record.timestamp >= 0 else { return nil }
        let now = Int64(Date().timeIntervalSince1970 * 1000)
        return .milliseconds(max(0, now.subtractingReportingOverflow(record.timestamp).partialValue))
    }

    /// How long brokers may take to tell the ends: nothing is polled meanwhile.
    private static let questionLimit = Duration.milliseconds(500)
}
