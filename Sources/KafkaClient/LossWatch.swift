// SPDX-License-Identifier: Apache-2.0

/// Finds records that expired before anybody of the group read them.
///
/// Offsets have gaps for other reasons, too: marks of transactions, aborted records, compaction. So a gap is only a
/// suspicion until the topic's first offset is known. Pure: the owner asks the broker.
struct LossWatch {
    /// The offset after the last record, or the group's committed one.
    private var next: [TopicPartition: Int64] = [:]

    /// Offsets that were not read, up to the record behind them; none may have come yet.
    private var gaps: [TopicPartition: Range<Int64>] = [:]

    /// Partitions that are looked at for the first time: each is asked for without a pause.
    private var fresh: Set<TopicPartition> = []

    /// No partition is asked for before.
    private var pausedUntil: ContinuousClock.Instant?

    /// Begins with what the group has committed; a partition without an offset was never read, so nothing of it is lost.
    init(committed: [TopicPartition: Int64] = [:]) {
        next = committed
        gaps = committed.mapValues { $0..<Int64.max }
        fresh = Set(committed.keys)
    }

    /// The offset after the last record that was read, or the group's committed one.
    func position(of partition: TopicPartition) -> Int64? { next[partition] }

    /// Takes a record in, in the order of reading.
    mutating func read(_ partition: TopicPartition, _ offset: Int64) {
        guard offset < .max else { return }
        if let expected = next[partition], offset > expected { note(expected..<offset, of: partition) }
        next[partition] = offset + 1
    }

    /// The widest gap counts: marks of transactions are small, and come often.
    private mutating func note(_ gap: Range<Int64>, of partition: TopicPartition) {
        if let known = gaps[partition], known.upperBound < .max, known.count >= gap.count { return }
        gaps[partition] = gap
    }

    /// A partition whose first offset settles a suspicion; nil when there is none to ask for now.
    func suspect(at now: ContinuousClock.Instant) -> TopicPartition? {
        if let pausedUntil, now < pausedUntil { return nil }
        return fresh.first ?? gaps.keys.first
    }

    /// Puts the next question off: the answer did not come.
    mutating func postpone(until time: ContinuousClock.Instant) { pausedUntil = time }

    /// What was lost, by the topic's first offset.
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

    /// The shortest time between two questions about gaps, however many a topic has.
    private static let pause = Duration.seconds(1)
}

extension KafkaConsumer {
    /// Remembers how far the group has read partitions that begin.
    ///
    /// Before anything of them is read: what this member commits itself is no help. Without an answer nothing is said of
    /// them until records with a gap between them come.
    func watchForLosses(_ partitions: [TopicPartition]) {
        let committed = (try? handle?.committedOffsets(of: partitions, within: Self.lossQuestionLimit)) ?? [:]
        lossWatch = LossWatch(committed: committed)
    }

    /// Asks for the first offset of one partition with a gap, if there is one.
    func checkForLoss() {
        guard areBrokersReachable, let partition = lossWatch.suspect(at: .now) else { return }
        do {
            guard let bounds = try handle?.bounds(of: partition, within: Self.lossQuestionLimit) else { return }
            if let lost = lossWatch.settle(partition, first: bounds.lowerBound, at: .now) {
                notify(.recordsLost(partition, lost))
            }
        } catch {
            // Asked again: a broker that is away is told of elsewhere.
            lossWatch.postpone(until: .now + .seconds(5))
        }
    }

    /// How long a broker may take to answer: nothing is polled meanwhile.
    private static let lossQuestionLimit = Duration.milliseconds(500)
}
