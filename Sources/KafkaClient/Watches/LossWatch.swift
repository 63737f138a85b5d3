// SPDX-License-Identifier: Apache-2.0

/// Finds records that expired before any member of the group read them.
///
/// Offsets have gaps for other reasons, too: transaction markers, aborted records, compaction. So a gap is only a
/// suspicion until the partition's first offset is known.
struct LossWatch: Watch {
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

    /// Records the offsets that were read, in order, and settles suspicions.
    mutating func see(_ event: WatchEvent, at now: ContinuousClock.Instant) -> [WatchAction] {
        switch event {
        case .record(let partition, let offset, _):
            read(partition, offset)
        case .assigned(let committed):
            self = LossWatch(committed: committed)
        case .released, .restarted:
            self = LossWatch()
        case .bounds(let partition, let bounds?):
            guard let lost = settle(partition, first: bounds.lowerBound, at: now) else { break }
            return [.notify(.recordsLost(partition, lost))]
        case .bounds(_, nil):
            pausedUntil = now + Self.pauseWithoutAnswer
        default:
            break
        }
        return []
    }

    /// Returns the question about a partition with a suspicion, if it is time.
    func due(at now: ContinuousClock.Instant) -> [WatchAction] {
        if let pausedUntil, now < pausedUntil { return [] }
        return (fresh.first ?? gaps.keys.first).map { [.askBounds($0)] } ?? []
    }

    private mutating func read(_ partition: TopicPartition, _ offset: Int64) {
        guard offset < .max else { return }
        if let expected = next[partition], offset > expected { note(expected..<offset, of: partition) }
        next[partition] = offset + 1
    }

    /// Keeps the widest gap: transaction markers make frequent, small ones.
    private mutating func note(_ gap: Range<Int64>, of partition: TopicPartition) {
        if let known = gaps[partition], known.upperBound < .max, known.count >= gap.count { return }
        gaps[partition] = gap
    }

    /// Settles a suspicion by the partition's first offset; returns the lost offsets, if any.
    private mutating func settle(
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

    /// The time after a query without an answer; an outage of the broker is reported elsewhere.
    private static let pauseWithoutAnswer = Duration.seconds(5)
}
