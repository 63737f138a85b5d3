// SPDX-License-Identifier: Apache-2.0

/// One header of a record; an absent value differs from an empty one.
package struct RecordHeader: Hashable, Sendable {
    package var name: String
    package var value: [UInt8]?

    package init(name: String, value: [UInt8]?) {
        self.name = name
        self.value = value
    }
}

/// One partition of one topic.
package struct TopicPartition: Hashable, Sendable {
    package let topic: String
    package let partition: Int32

    package init(topic: String, partition: Int32) {
        self.topic = topic
        self.partition = partition
    }
}

/// A record that was read, copied out of the client's memory.
package struct ConsumerRecord: Hashable, Sendable {
    package let topic: String
    package let partition: Int32
    package let offset: Int64

    /// Milliseconds since 1970, -1 when the record has none.
    package let timestamp: Int64

    package let key: [UInt8]?

    /// Nil for a tombstone.
    package let value: [UInt8]?

    /// The headers in the producer's order, with repeated names; names that are not UTF-8 are repaired.
    package let headers: [RecordHeader]

    package init(
        topic: String,
        partition: Int32,
        offset: Int64,
        timestamp: Int64,
        key: [UInt8]?,
        value: [UInt8]?,
        headers: [RecordHeader]
    ) {
        self.topic = topic
        self.partition = partition
        self.offset = offset
        self.timestamp = timestamp
        self.key = key
        self.value = value
        self.headers = headers
    }

    /// Approximate memory of the record in bytes, for limits.
    var size: Int {
        let headerSize = headers.reduce(0) { $0 + $1.name.utf8.count + ($1.value?.count ?? 0) + 48 }
        return 128 + (key?.count ?? 0) + (value?.count ?? 0) + headerSize
    }
}

/// A record to be written.
package struct ProducerRecord: Hashable, Sendable {
    package var topic: String
    package var key: [UInt8]?

    /// Nil for a tombstone.
    package var value: [UInt8]?

    package var headers: [RecordHeader]

    /// Milliseconds since 1970; the time of sending when nil.
    package var timestamp: Int64?

    /// Nil to choose it by the key's hash.
    package var partition: Int32?

    package init(
        topic: String,
        key: [UInt8]?,
        value: [UInt8]?,
        headers: [RecordHeader] = [],
        timestamp: Int64? = nil,
        partition: Int32? = nil
    ) {
        self.topic = topic
        self.key = key
        self.value = value
        self.headers = headers
        self.timestamp = timestamp
        self.partition = partition
    }
}

/// The place of a record that was handed out.
package struct RecordPlace: Sendable {
    let epoch: Int
    let partition: TopicPartition
    let offset: Int64

    /// Makes the place of a record from a batch that was handed out.
    package init(batch: RecordBatch, topic: String, _ partition: Int32, _ offset: Int64) {
        epoch = batch.epoch
        self.partition = TopicPartition(topic: topic, partition: partition)
        self.offset = offset
    }
}

/// Records that were handed out together, and the offsets to commit after them.
package struct RecordBatch: Sendable {
    package let records: [ConsumerRecord]

    /// The assignment in which the records were read; a partition may belong to another member in a later one.
    let epoch: Int
    let number: Int
    let nextOffsets: [TopicPartition: Int64]

    /// The batch without its records, for a commit that may take long.
    package var withoutRecords: RecordBatch {
        RecordBatch(records: [], epoch: epoch, number: number, nextOffsets: nextOffsets)
    }
}

/// The result of a record that was sent.
package enum DeliveryResult: Hashable, Sendable {
    /// Every in-sync replica has the record.
    case delivered(partition: Int32, offset: Int64)

    /// The record may not be written; send it again if the error is retriable.
    case failed(KafkaError)

    /// The cause of a failed delivery; nil after a successful one.
    package var failure: KafkaError? {
        if case .failed(let error) = self { error } else { nil }
    }
}

/// A record to be written, and the callback for its result.
package struct OutgoingRecord: Sendable {
    package let record: ProducerRecord

    /// Called once, on the producer's thread, which it must not block.
    package let answer: @Sendable (DeliveryResult) -> Void

    package init(_ record: ProducerRecord, _ answer: @escaping @Sendable (DeliveryResult) -> Void) {
        self.record = record
        self.answer = answer
    }
}
