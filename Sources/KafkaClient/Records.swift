// SPDX-License-Identifier: Apache-2.0

/// One header of a record; a value may be absent, which is not the same as empty.
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

/// A record as it was read, copied out of the client's memory.
package struct ConsumerRecord: Hashable, Sendable {
    package let topic: String
    package let partition: Int32
    package let offset: Int64

    /// Milliseconds since 1970, -1 when the record has none.
    package let timestamp: Int64

    package let key: [UInt8]?

    /// Nil for a tombstone.
    package let value: [UInt8]?

    /// In the producer's order, names repeated as sent; a name that is not UTF-8 is repaired.
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

    /// About how much memory the record takes, for limits.
    var size: Int {
        let headerSize = headers.reduce(0) { $0 + $1.name.utf8.count + ($1.value?.count ?? 0) + 48 }
        return 128 + (key?.count ?? 0) + (value?.count ?? 0) + headerSize
    }
}

/// A record to be written.
package struct ProducerRecord: Hashable, Sendable {
    package var topic: String
    package var key: [UInt8]?

    /// Nil writes a tombstone.
    package var value: [UInt8]?

    package var headers: [RecordHeader]

    /// Milliseconds since 1970; the time of sending when nil.
    package var timestamp: Int64?

    /// The key's hash chooses when nil.
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

/// Where a record stands that was handed out.
package struct RecordPlace: Sendable {
    let epoch: Int
    let partition: TopicPartition
    let offset: Int64

    /// The place of a record that was handed out with `batch`.
    package init(batch: RecordBatch, topic: String, _ partition: Int32, _ offset: Int64) {
        epoch = batch.epoch
        self.partition = TopicPartition(topic: topic, partition: partition)
        self.offset = offset
    }
}

/// Records handed out together, and what to commit once they are dealt with.
package struct RecordBatch: Sendable {
    package let records: [ConsumerRecord]

    /// The assignment under which the records were read: a later one may belong to another member.
    let epoch: Int
    let number: Int
    let nextOffsets: [TopicPartition: Int64]

    /// The same without its records: what a commit needs, for as long as it takes.
    package var withoutRecords: RecordBatch {
        RecordBatch(records: [], epoch: epoch, number: number, nextOffsets: nextOffsets)
    }
}
