// SPDX-License-Identifier: Apache-2.0

import CLibrdkafka
import FoundationEssentials

extension KafkaConsumer {
    /// Passes an event to all watchers, and performs their actions.
    func see(_ event: WatchEvent) {
        perform(watches.see(event, at: .now))
    }

    /// Performs the watchers' actions whose time has come.
    ///
    /// Asks no question while no broker is reachable, and only those about losses during a revocation.
    func checkWatches() {
        if watches.group.isTimeToJoin(at: .now) { join() }
        guard watches.brokers.areReachable else { return }
        perform(watches.losses.due(at: .now))
        guard revocation == nil else { return }
        perform(watches.reads.due(at: .now))
        perform(watches.group.due(at: .now))
        perform(watches.identity.due(at: .now))
    }

    /// Performs actions; the answer to a question is an event for the watchers.
    ///
    /// Every question blocks the thread, except the one for a topic's id: its answer arrives later, like that to a
    /// commit.
    func perform(_ actions: [WatchAction]) {
        for action in actions {
            switch action {
            case .notify(let notice): notify(notice)
            case .restart(let topic): restart(topic)
            case .fetchAgain(let partition): fetchAgain(partition)
            case .askMembers(let limit): see(.members(handle?.members(of: groupID, within: limit)))
            case .askBounds(let partition):
                see(.bounds(partition, try? handle?.bounds(of: partition, within: Self.questionLimit)))
            case .find(let topic):
                guard (try? handle?.partitionCount(of: topic, within: Self.questionLimit)) != nil else { continue }
                see(.found(topic: topic))
            case .askTopicID:
                let isRequested = topics.allSatisfy { handle?.queryID(of: $0, within: Self.questionLimit) != false }
                if !isRequested { see(.topicID(nil)) }
            case .askOffsets(let times):
                let times = times.map { ($0.key, $0.value) }
                // Without an answer the check is repeated later.
                guard let found = try? handle?.offsets(at: times, within: Self.questionLimit) else { continue }
                see(.offsets(found))
            }
        }
    }

    private func join() {
        notify(.joining)
        do { try handle?.subscribe(topics) } catch { fail(error) }
    }

    private func fetchAgain(_ partition: TopicPartition) {
        let known = [watches.losses.position(of: partition), assignment.position(of: partition)].compactMap(\.self)
        guard let position = known.max() else { return }
        do { try handle?.seek(partition, to: position) } catch { notify(.error(error)) }
    }

    /// Reads all owned partitions from their beginning, and resets the group's offsets to it.
    ///
    /// Batches in progress belong to the old topic: their offsets can no longer be committed.
    private func restart(_ topic: String) {
        notify(.topicRecreated(topic: topic))
        let partitions = assignment.partitions
        guard !partitions.isEmpty, revocation == nil else { return }
        buffer.removeAll()
        assignment.assign(partitions)
        see(.restarted)
        do {
            handle?.separateRecords(of: partitions)
            try handle?.assign(partitions.map { ($0, Int64(RD_KAFKA_OFFSET_BEGINNING)) })
            // A commit for the old topic may have been stored after the new one was created: overwrite it.
            lastCall += 1
            try handle?.commit(Dictionary(partitions.map { ($0, 0) }) { $1 }, token: lastCall)
        } catch {
            notify(.error(error))
        }
    }

    /// Time limit for a broker's answer: nothing is polled meanwhile.
    static let questionLimit = Duration.milliseconds(500)
}

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
    /// end, the position is past transaction markers and aborted records. While the buffer stays full, brokers are queried,
    /// since no fetch may report the end then. A partition with an unknown position or end is left out.
    package func lag() -> [PartitionLag] {
        let unread = buffer.firstRecords
        let end = ContinuousClock.now + Self.questionLimit
        return assignment.partitions.compactMap { partition in
            var last = handle?.cachedEnd(of: partition)
            let left = end - .now
            if isHeld, left > .zero, let asked = try? handle?.bounds(of: partition, within: left) {
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

    /// The part of the topics' partitions that this member owns, 0 to 1; nil before the first statistics.
    ///
    /// By the statistics, since to ask a broker would block the thread.
    package func ownedShare() -> Double? {
        let counts = topics.map { partitionCounts[$0] ?? 0 }
        if counts.contains(0) { return nil }
        return min(1, Double(assignment.partitions.count) / Double(counts.reduce(0, +)))
    }

    /// The age of a record; nil for a record without a time.
    private static func age(of record: ConsumerRecord) -> Duration? {
        guard record.timestamp >= 0 else { return nil }
        let now = Int64(Date().timeIntervalSince1970 * 1000)
        return .milliseconds(max(0, now.subtractingReportingOverflow(record.timestamp).partialValue))
    }
}
