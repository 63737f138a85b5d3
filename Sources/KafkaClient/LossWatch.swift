// SPDX-License-Identifier: Apache-2.0

/// Finds records that expired before any member of the group read them.
///
/// Offsets have gaps for other reasons, too: transaction markers, aborted records, compaction. So a gap is only a
/// suspicion until the partition's first offset is known. Pure: the owner queries the broker.
struct LossWatch {
    /// The offset after the last record that was read, or the group's committed one.
    private var next: [TopicPartition: Int64] = [:]

    /// Ranges of unread offsets, each up to the next record; unbounded until a record is read.
    private var gaps: [TopicPartition: Range<Int64>] = [:]

    /// Partitions that were not checked yet: their checks need no pause.
    private var fresh: Set<TopicPartition> = []

    /// The time before which no partition is checked.
    private var pausedUntil: ContinuousClock.Instant?

    /// Starts with the group's committed offsets; a partition without one was never read, so it lost nothing.
    init(committed: [TopicPartition: Int64] = [:]) {
        next = committed
        gaps = committed.mapValues { $0..<Int64.max }
        fresh = Set(committed.keys)
    }

    /// The offset after the last record that was read, or the group's committed one.
    func position(of partition: TopicPartition) -> Int64? { next[partition] }

    /// Records a record that was read, in order.
    mutating func read(_ partition: TopicPartition, _ offset: Int64) {
        guard offset < .max else { return }
        if let expected = next[partition], offset > expected { note(expected..<offset, of: partition) }
        next[partition] = offset + 1
    }

    /// Keeps the widest gap: transaction markers make frequent, small ones.
    private mutating func note(_ gap: Range<Int64>, of partition: TopicPartition) {
        if let known = gaps[partition], known.upperBound < .max, known.count >= gap.count { return }
        gaps[partition] = gap
    }

    /// A partition whose first offset must be queried now, to settle a suspicion; nil for none.
    func suspect(at now: ContinuousClock.Instant) -> TopicPartition? {
        if let pausedUntil, now < pausedUntil { return nil }
        return fresh.first ?? gaps.keys.first
    }

    /// Postpones the next query, after one without an answer.
    mutating func postpone(until time: ContinuousClock.Instant) { pausedUntil = time }

    /// Settles a suspicion by the partition's first offset; returns the lost offsets, if any.
    mutating func settle(
        _ partition: TopicPartition,
        first: Int64,
        at now: ContinuousClock.Instant
    ) -> Range<Int64>? {
        if fresh.remove(partition) == nil { pausedUntil = now + Self.pause }
        guard let gap = gaps.removeValue(forKey: partition) else { return nil }
        let end = min(first, gap.upperBound)
        guard end > gap.lowerBound else { return nil }
        next[partition] = max(next[partition] ?? end, end)
        return gap.lowerBound..<end
    }

    /// Minimum time between two queries about gaps, however many a topic has.
    private static let pause = Duration.seconds(1)
}

extension KafkaConsumer {
    /// Reads the group's committed offsets of newly assigned partitions.
    ///
    /// This must precede their first record, since this member's own commits would hide a loss. Without an answer, a
    /// loss is found only by a gap between two records.
    func watchForLosses(_ partitions: [TopicPartition]) {
        let committed = (try? handle?.committedOffsets(of: partitions, within: Self.lossQuestionLimit)) ?? [:]
        lossWatch = LossWatch(committed: committed)
    }

    /// Queries the first offset of one partition with a gap, if there is one.
    func checkForLoss() {
        guard areBrokersReachable, let partition = lossWatch.suspect(at: .now) else { return }
        do {
            guard let bounds = try handle?.bounds(of: partition, within: Self.lossQuestionLimit) else { return }
            if let lost = lossWatch.settle(partition, first: bounds.lowerBound, at: .now) {
                notify(.recordsLost(partition, lost))
            }
        } catch {
            // Repeated later; the outage of a broker is reported elsewhere.
            lossWatch.postpone(until: .now + .seconds(5))
        }
    }

    /// Time limit for a broker's answer: nothing is polled meanwhile.
    private static let lossQuestionLimit = Duration.milliseconds(500)
}
