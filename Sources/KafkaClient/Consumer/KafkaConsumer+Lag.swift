// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials

/// The number of records of a partition that were not handed out yet.
package struct PartitionLag: Hashable, Sendable {
    package let topic: String
    package let partition: Int32
    package let lag: Int64

    /// Age of the oldest of them, or the time since it is known to exist.
    package let age: Duration
}

extension KafkaConsumer {
    /// The lag of each owned partition: the distance from the handed-out records to the partition's end.
    ///
    /// The end is the high watermark, so records behind an open transaction count. Once a partition was read to its
    /// end, the position is past transaction markers and aborted records. While reading is paused, brokers are queried,
    /// since no fetch reports the end then. A partition with an unknown position or end is left out.
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
                first?.offset ?? assignment.position(of: partition) ?? watches.losses.position(of: partition)
            guard let last, let position else { return nil }
            let lag = max(0, last.subtractingReportingOverflow(position).partialValue)
            let known = assignment.age(of: partition, at: position, lag: lag, now: .now)
            return PartitionLag(
                topic: partition.topic,
                partition: partition.partition,
                lag: lag,
                age: lag > 0 ? max(known, first.flatMap(Self.age(of:)) ?? .zero) : .zero
            )
        }
    }

    /// The part of the topics' partitions that this member owns, 0 to 1; nil if no broker answers.
    ///
    /// Queries a broker.
    package func ownedShare() -> Double? {
        let counts = topics.map { try? handle?.partitionCount(of: $0, within: Self.questionLimit) }
        let all = counts.reduce(0) { $0 + ($1 ?? 0) }
        guard all > 0, counts.allSatisfy({ $0 != nil }) else { return nil }
        return min(1, Double(assignment.partitions.count) / Double(all))
    }

    /// The age of a record; nil for a record without a time.
    private static func age(of record: ConsumerRecord) -> Duration? {
        guard record.timestamp >= 0 else { return nil }
        let now = Int64(Date().timeIntervalSince1970 * 1000)
        return .milliseconds(max(0, now.subtractingReportingOverflow(record.timestamp).partialValue))
    }
}
