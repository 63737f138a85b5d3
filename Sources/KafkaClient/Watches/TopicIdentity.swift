// SPDX-License-Identifier: Apache-2.0

import CLibrdkafka

/// Detects that a topic was deleted and recreated under the same name, which invalidates the old offsets.
///
/// Brokers from Kafka 2.8 and librdkafka from 2.4 provide a topic's id. Without ids, a topic whose broker stamps
/// records is recognized by their times, which never decrease: a record with a lower offset than the records read so
/// far, but a later time than all of them, belongs to another topic.
struct TopicIdentity: Watch {
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

    private let topics: [String]
    private var id: ID?

    /// The marks at the last check: records read later may belong to another topic already.
    private var marks: [TopicPartition: Mark] = [:]

    /// The marks at the last record.
    private var newest: [TopicPartition: Mark] = [:]

    /// Topics that were reported to have their producers' times.
    private var topicsTimedByProducers: Set<String> = []
    private var next: ContinuousClock.Instant?

    init(topics: [String]) { self.topics = topics }

    mutating func see(_ event: WatchEvent, at now: ContinuousClock.Instant) -> [WatchAction] {
        switch event {
        case .record(let partition, let offset, let time?):
            read(partition, time, offset)
        case .record(let partition, _, nil):
            guard topicsTimedByProducers.insert(partition.topic).inserted else { return [] }
            return [.notify(.producerTimes(topic: partition.topic))]
        case .released, .restarted:
            // Another member may continue to read.
            (marks, newest) = ([:], [:])
        case .topicID(nil):
            if !marks.isEmpty { return [.askOffsets(at: marks.mapValues { $0.timestamp + 1 })] }
            marks = newest
        case .topicID(let found?):
            // An answer does not name its topic, so a consumer of several topics cannot compare ids.
            guard topics.count == 1 else { return [] }
            defer { id = found }
            return id ?? found == found ? [] : [.restart(topic: topics[0])]
        case .offsets(let later):
            let found = later.first { contradicts($0.key, firstLater: $0.value) }
            if let topic = found?.key.topic { return [.restart(topic: topic)] }
            marks = newest
        default:
            break
        }
        return []
    }

    /// Returns the question about ids; one without an answer is repeated.
    mutating func due(at now: ContinuousClock.Instant) -> [WatchAction] {
        if let next, now < next { return [] }
        next = now + Self.pause
        return [.askTopicID]
    }

    /// Records a record that has its broker's time.
    private mutating func read(_ partition: TopicPartition, _ timestamp: Int64, _ offset: Int64) {
        guard timestamp >= 0 else { return }
        let latest = newest[partition].map { max($0.timestamp, timestamp) } ?? timestamp
        newest[partition] = Mark(timestamp: latest, offset: offset)
    }

    /// True when the first record later than the mark has an offset up to the mark's: it belongs to another topic.
    private func contradicts(_ partition: TopicPartition, firstLater offset: Int64) -> Bool {
        guard let mark = marks[partition] else { return false }
        return (0...mark.offset).contains(offset)
    }
}

extension ClientHandle {
    /// Requests a topic's id, whose answer arrives through `pollReply`; false when the library does not support it.
    func queryID(of topic: String, within limit: Duration) -> Bool {
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
