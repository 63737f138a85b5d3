// SPDX-License-Identifier: Apache-2.0

/// The partitions of a member, and the handed-out batches whose commits are not answered yet.
struct Assignment {
    /// The offsets that a commit must send, if any.
    enum Commit: Hashable {
        case notAssigned

        /// Offsets at or past the batch's are committed already.
        case covered

        case offsets([TopicPartition: Int64])
    }

    private(set) var epoch = 0
    private(set) var partitions: [TopicPartition] = []
    private(set) var handedOut: [TopicPartition: Int64] = [:]

    /// The offsets at which partitions were read to their end, past transaction markers and aborted records.
    private(set) var ends: [TopicPartition: Int64] = [:]
    private var committed: [TopicPartition: Int64] = [:]

    /// The positions known to have unread records although none is buffered, and since when.
    private var behind: [TopicPartition: (position: Int64, since: ContinuousClock.Instant)] = [:]

    /// The offsets that commits requested, successful or not.
    private var wanted: [TopicPartition: Int64] = [:]
    private var unsettled: Set<Int> = []
    private var batchCount = 0

    /// True while a handed-out batch has no answer to its commit.
    var hasUnsettledBatches: Bool { !unsettled.isEmpty }

    mutating func assign(_ partitions: [TopicPartition]) {
        clear()
        self.partitions = partitions
    }

    /// Ends the ownership: batches of it can no longer be committed.
    mutating func clear() {
        epoch += 1
        partitions = []
        handedOut = [:]
        ends = [:]
        behind = [:]
        committed = [:]
        wanted = [:]
        unsettled = []
    }

    mutating func reachEnd(of partition: TopicPartition, at offset: Int64) { ends[partition] = offset }

    /// The offset after all handed-out records, and after markers at the end; nil when neither is known.
    func position(of partition: TopicPartition) -> Int64? {
        [handedOut[partition], ends[partition]].compactMap(\.self).max()
    }

    /// Records one reading, and returns the time for which the position has not moved although records follow it.
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

    mutating func handOut(_ records: [ConsumerRecord]) -> RecordBatch {
        var nextOffsets: [TopicPartition: Int64] = [:]
        for record in records {
            let partition = TopicPartition(topic: record.topic, partition: record.partition)
            nextOffsets[partition] = record.offset &+ 1
        }
        handedOut.merge(nextOffsets) { $1 }
        batchCount += 1
        unsettled.insert(batchCount)
        return RecordBatch(records: records, epoch: epoch, number: batchCount, nextOffsets: nextOffsets)
    }

    /// The offsets that batches and earlier failed commits still have to commit, never below a committed one.
    ///
    /// Offsets past the places of unfinished records are not committed. Batches and records of an earlier ownership are
    /// ignored; `notAssigned` when there are no others.
    mutating func commit(_ batches: [RecordBatch], before places: [RecordPlace] = []) -> Commit {
        let owned = batches.filter { $0.epoch == epoch }
        if owned.isEmpty { return .notAssigned }
        for batch in owned { wanted.merge(batch.nextOffsets) { max($0, $1) } }
        var limits: [TopicPartition: Int64] = [:]
        for place in places where place.epoch == epoch {
            limits[place.partition] = min(place.offset, limits[place.partition] ?? .max)
        }
        let possible = wanted.merging(limits.filter { wanted[$0.key] != nil }) { min($0, $1) }
        let offsets = possible.filter { partition, offset in offset > committed[partition] ?? -1 }
        return offsets.isEmpty ? .covered : .offsets(offsets)
    }

    mutating func settle(_ batches: [RecordBatch], committed offsets: [TopicPartition: Int64] = [:]) {
        let owned = batches.filter { $0.epoch == epoch }
        for batch in owned { unsettled.remove(batch.number) }
        if !owned.isEmpty { committed.merge(offsets) { max($0, $1) } }
    }
}
