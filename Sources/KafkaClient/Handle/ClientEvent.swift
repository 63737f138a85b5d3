// SPDX-License-Identifier: Apache-2.0

import CLibrdkafka

/// One event of a client.
// SAFETY: the event belongs to this value alone and is destroyed with it; everything read from it is copied.
@safe package struct ClientEvent: ~Copyable {
    package enum Kind {
        case record, delivery, rebalance, commit, error, statistics, other
    }

    /// A partition in a rebalance or a commit.
    struct Entry {
        let partition: TopicPartition
        let error: KafkaError?
    }

    private let event: OpaquePointer

    init?(adopting event: OpaquePointer?) {
        guard let event = unsafe event else { return nil }
        unsafe self.event = event
    }

    deinit {
        unsafe rd_kafka_event_destroy(event)
    }

    package var kind: Kind {
        switch unsafe rd_kafka_event_type(event) {
        case RD_KAFKA_EVENT_FETCH: .record
        case RD_KAFKA_EVENT_DR: .delivery
        case RD_KAFKA_EVENT_REBALANCE: .rebalance
        case RD_KAFKA_EVENT_OFFSET_COMMIT: .commit
        case RD_KAFKA_EVENT_ERROR: .error
        case RD_KAFKA_EVENT_STATS: .statistics
        default: .other
        }
    }

    var code: KafkaError.Code {
        KafkaError.Code(unsafe rd_kafka_event_error(event))
    }

    package var error: KafkaError? {
        let code = self.code
        guard code != .none else { return nil }
        guard kind == .error else { return KafkaError(code) }
        let error = KafkaError(code, isFatal: unsafe rd_kafka_event_error_is_fatal(event) != 0)
        if let subject { return error.at(subject.partition) }
        guard let text = unsafe rd_kafka_event_error_string(event) else { return error }
        return error.explained(by: unsafe String(cString: text))
    }

    /// The client's statistics as JSON.
    var statistics: String? {
        guard let text = unsafe rd_kafka_event_stats(event) else { return nil }
        return unsafe String(cString: text)
    }

    /// The token that was passed with a commit.
    var token: Int {
        unsafe Int(bitPattern: rd_kafka_event_opaque(event))
    }

    /// The partition that an error is about, and the offset, if the error is the partition's end.
    package var subject: (partition: TopicPartition, offset: Int64)? {
        guard let subject = unsafe rd_kafka_event_topic_partition(event) else { return nil }
        defer { unsafe rd_kafka_topic_partition_destroy(subject) }
        guard let topic = unsafe subject.pointee.topic else { return nil }
        let partition = unsafe TopicPartition(topic: String(cString: topic), partition: subject.pointee.partition)
        return unsafe (partition, subject.pointee.offset)
    }

    /// The partitions of a rebalance or a commit.
    var entries: [Entry] {
        guard let list = unsafe rd_kafka_event_topic_partition_list(event) else { return [] }
        let elements = unsafe UnsafeBufferPointer(start: list.pointee.elems, count: Int(list.pointee.cnt))
        return unsafe elements.compactMap { element in
            guard let topic = unsafe element.topic else { return nil }
            return unsafe Entry(
                partition: TopicPartition(topic: String(cString: topic), partition: element.partition),
                error: KafkaError(failure: element.err)
            )
        }
    }

    /// Passes each message of the event to `body`; reading a record moves the client's position past it.
    package func forEachMessage(_ body: (borrowing ClientMessage) -> Void) {
        while let message = unsafe rd_kafka_event_message_next(event) {
            // SAFETY: the message lives as long as the event, which outlives the call.
            body(unsafe ClientMessage(message))
        }
    }

    /// Passes the event to a C call that reads details of it.
    package func withEvent<Result>(_ body: (OpaquePointer) -> Result) -> Result {
        unsafe body(event)
    }
}
