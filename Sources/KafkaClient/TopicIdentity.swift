// SPDX-License-Identifier: Apache-2.0

import CLibrdkafka

/// Detects that a topic was deleted and recreated under the same name, which invalidates the old offsets.
///
/// Brokers from Kafka 2.8 and librdkafka from 2.4 provide a topic's id. Without ids, a topic whose broker stamps
/// records is recognized by their times, which never decrease: a record with a lower offset than the records read so
/// far, but a later time than all of them, belongs to another topic. Pure: the owner queries the brokers.
struct TopicIdentity {
    struct ID: Hashable {
        let high: Int64
        let low: Int64
    }

    /// The latest time of the records read from a partition, and the offset of the last one.
    struct Mark: Hashable {
        var timestamp: Int64
        var offset: Int64
    }

    /// The time between two queries.
    private static let pause = Duration.seconds(3)

    private var ids: [String: ID] = [:]

    /// The marks at the last check: records read later may belong to another topic already.
    private(set) var marks: [TopicPartition: Mark] = [:]

    /// The marks at the last record.
    private(set) var newest: [TopicPartition: Mark] = [:]
    private var next: ContinuousClock.Instant?

    /// True when a query is due; a query without an answer is repeated.
    mutating func isDue(at now: ContinuousClock.Instant) -> Bool {
        if let next, now < next { return false }
        next = now + Self.pause
        return true
    }

    /// Records a topic's id; true when a different one was known for its name.
    mutating func note(_ id: ID, of topic: String) -> Bool {
        defer { ids[topic] = id }
        return ids[topic].map { $0 != id } ?? false
    }

    /// Records a record that has its broker's time.
    mutating func read(_ partition: TopicPartition, _ timestamp: Int64, _ offset: Int64) {
        guard timestamp >= 0 else { return }
        let latest = newest[partition].map { max($0.timestamp, timestamp) } ?? timestamp
        newest[partition] = Mark(timestamp: latest, offset: offset)
    }

    /// Sets the marks to the records read before a check without findings.
    mutating func confirm(_ read: [TopicPartition: Mark]) { marks = read }

    /// True when the first record later than the mark has an offset up to the mark's: it belongs to another topic.
    func contradicts(_ partition: TopicPartition, firstLater offset: Int64) -> Bool {
        guard let mark = marks[partition] else { return false }
        return (0...mark.offset).contains(offset)
    }

    /// Forgets all marks: another member may continue to read.
    mutating func forgetRecords() { (marks, newest) = ([:], [:]) }
}

extension KafkaConsumer {
    /// Queries the topics' ids when a query is due.
    func checkIdentity() {
        guard areBrokersReachable, revocation == nil, identity.isDue(at: .now) else { return }
        for topic in topics where handle?.askID(of: topic, within: Self.identityLimit) == false {
            checkTimes()
            return
        }
    }

    func noteIdentity(_ id: TopicIdentity.ID?) {
        guard let id else { return checkTimes() }
        // An answer does not name its topic, so a consumer of several topics cannot compare ids.
        guard let topic = topics.first, topics.count == 1 else { return }
        if identity.note(id, of: topic) { beginAnew(topic) }
    }

    /// Checks the identity by the records' times, where there are no ids.
    private func checkTimes() {
        let read = identity.newest
        let times = identity.marks.map { ($0.key, $0.value.timestamp + 1) }
        guard !times.isEmpty else { return identity.confirm(read) }
        // Without an answer the check is repeated later.
        guard let later = try? handle?.offsets(at: times, within: Self.identityLimit) else { return }
        if let found = later.first(where: { identity.contradicts($0.key, firstLater: $0.value) }) {
            beginAnew(found.key.topic)
        } else {
            identity.confirm(read)
        }
    }

    /// Reads all owned partitions from their beginning, and resets the group's offsets to it.
    ///
    /// Batches in progress belong to the old topic: their offsets can no longer be committed.
    private func beginAnew(_ topic: String) {
        notify(.topicMadeAnew(topic: topic))
        let partitions = assignment.partitions
        guard !partitions.isEmpty, revocation == nil else { return }
        buffer.removeAll()
        resumePaused()
        flow.reset()
        assignment.assign(partitions)
        lossWatch = LossWatch()
        lagWatch = LagWatch()
        identity.forgetRecords()
        do {
            try handle?.assign(partitions.map { ($0, Int64(RD_KAFKA_OFFSET_BEGINNING)) })
            // A commit for the old topic may have been stored after the new one was created: overwrite it.
            commitCount += 1
            try handle?.commit(Dictionary(partitions.map { ($0, 0) }) { $1 }, token: commitCount)
        } catch {
            notify(.error(error))
        }
    }

    private static let identityLimit = Duration.milliseconds(500)
}

extension ClientHandle {
    /// Requests a topic's id, whose answer arrives through `pollReply`; false when the library does not support it.
    func askID(of topic: String, within limit: Duration) -> Bool {
        unsafe courier_kafka_ask_topic_id(client, topic, limit.milliseconds, replies) != 0
    }
}

extension ClientEvent {
    /// The id in an answer; nil when the event is not such an answer, `.some(nil)` for an answer without an id.
    var topicID: TopicIdentity.ID?? {
        unsafe withEvent { event in
            var high: Int64 = 0
            var low: Int64 = 0
            switch unsafe courier_kafka_topic_id(event, &high, &low) {
            case 0: return .none
            case 1: return .some(nil)
            default: return .some(TopicIdentity.ID(high: high, low: low))
            }
        }
    }
}
