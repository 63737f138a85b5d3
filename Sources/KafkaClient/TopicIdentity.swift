// SPDX-License-Identifier: Apache-2.0

import CLibrdkafka

/// Finds out that a topic was deleted and made anew under the same name: offsets of the old one mean nothing in it.
///
/// Brokers from Kafka 2.8 on and librdkafka from 2.4 on tell a topic's id. Without them a topic whose broker stamps records
/// is known by its times: they never fall, so a record before those that were read and later than all of them belongs to
/// another topic. Pure: the owner asks the brokers.
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

    /// How often brokers are asked.
    private static let pause = Duration.seconds(3)

    private var ids: [String: ID] = [:]

    /// Up to the last check: what is read after it may already be of another topic.
    private(set) var marks: [TopicPartition: Mark] = [:]

    /// Up to the last record.
    private(set) var newest: [TopicPartition: Mark] = [:]
    private var next: ContinuousClock.Instant?

    /// True at the time for a question; a question that was lost is repeated.
    mutating func isDue(at now: ContinuousClock.Instant) -> Bool {
        if let next, now < next { return false }
        next = now + Self.pause
        return true
    }

    /// Takes a topic's id; true when another one is known under its name.
    mutating func note(_ id: ID, of topic: String) -> Bool {
        defer { ids[topic] = id }
        return ids[topic].map { $0 != id } ?? false
    }

    /// Takes a record whose time is its broker's.
    mutating func read(_ partition: TopicPartition, _ timestamp: Int64, _ offset: Int64) {
        guard timestamp >= 0 else { return }
        let latest = newest[partition].map { max($0.timestamp, timestamp) } ?? timestamp
        newest[partition] = Mark(timestamp: latest, offset: offset)
    }

    /// Takes what was read before a check that found nothing.
    mutating func confirm(_ read: [TopicPartition: Mark]) { marks = read }

    /// Whether the first record later than all up to the last check stands before the last of them.
    func contradicts(_ partition: TopicPartition, firstLater offset: Int64) -> Bool {
        guard let mark = marks[partition] else { return false }
        return (0...mark.offset).contains(offset)
    }

    /// Forgets what was read: another member may read on.
    mutating func forgetRecords() { (marks, newest) = ([:], [:]) }
}

extension KafkaConsumer {
    /// Asks about the topics' identity, when it is time.
    func checkIdentity() {
        guard areBrokersReachable, revocation == nil, identity.isDue(at: .now) else { return }
        for topic in topics where handle?.askID(of: topic, within: Self.identityLimit) == false {
            checkTimes()
            return
        }
    }

    /// Takes an answer about a topic's id.
    func noteIdentity(_ id: TopicIdentity.ID?) {
        guard let id else { return checkTimes() }
        // An answer does not name its topic: a consumer of several has none to compare.
        guard let topic = topics.first, topics.count == 1 else { return }
        if identity.note(id, of: topic) { beginAnew(topic) }
    }

    /// The same by the records' times, where there are no ids.
    private func checkTimes() {
        let read = identity.newest
        let times = identity.marks.map { ($0.key, $0.value.timestamp + 1) }
        guard !times.isEmpty else { return identity.confirm(read) }
        // Without an answer it is asked again.
        guard let later = try? handle?.offsets(at: times, within: Self.identityLimit) else { return }
        if let found = later.first(where: { identity.contradicts($0.key, firstLater: $0.value) }) {
            beginAnew(found.key.topic)
        } else {
            identity.confirm(read)
        }
    }

    /// Reads all owned partitions from their beginning, and sets the group back to it.
    ///
    /// What is still being worked on is of the old topic: its offsets can no longer be committed.
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
            // A commit for the old topic may have come after the new one was made.
            commitCount += 1
            try handle?.commit(Dictionary(partitions.map { ($0, 0) }) { $1 }, token: commitCount)
        } catch {
            notify(.error(error))
        }
    }

    private static let identityLimit = Duration.milliseconds(500)
}

extension ClientHandle {
    /// Asks for a topic's id, whose answer comes through `pollReply`; false where the library knows none.
    func askID(of topic: String, within limit: Duration) -> Bool {
        unsafe courier_kafka_ask_topic_id(client, topic, limit.milliseconds, replies) != 0
    }
}

extension ClientEvent {
    /// Nil when the event is no answer about a topic's id; an answer may have none.
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
