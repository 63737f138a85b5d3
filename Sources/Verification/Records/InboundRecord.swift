// SPDX-License-Identifier: Apache-2.0

/// A consumed Kafka record as bytes, before anybody has looked inside.
///
/// It describes itself by its place only: key, value and headers may hold a phone number.
package struct InboundRecord: Sendable, Hashable, Redacted {
    package let topic: String
    package let partition: Int32
    package let offset: Int64

    /// When the record was made, or appended, by the topic's setting; nil when Kafka does not say.
    package let timestamp: Timestamp?

    package let key: [UInt8]?

    /// The payload; nil is a tombstone.
    package let value: [UInt8]?

    /// The headers in their order; a name may come more than once.
    package let headers: [RecordField]

    package init(
        topic: String,
        partition: Int32,
        offset: Int64,
        timestamp: Timestamp?,
        key: [UInt8]?,
        value: [UInt8]?,
        headers: [RecordField]
    ) {
        self.topic = topic
        self.partition = partition
        self.offset = offset
        self.timestamp = timestamp
        self.key = key
        self.value = value
        self.headers = headers
    }

    /// The record's topic and partition, within which its offset is unique.
    package var source: String { "\(topic)/\(partition)" }

    /// When the record came to Kafka the first time: a redrive gives it a new time where brokers set the times.
    ///
    /// The header can make a record older and never younger, whoever wrote it.
    package var firstTimestamp: Timestamp? {
        guard let header = header("dead-letter-timestamp"), header.count <= 19,
            let milliseconds = Int64(String(decoding: header, as: UTF8.self)), milliseconds >= 0
        else { return timestamp }
        let earlier = Timestamp(milliseconds: milliseconds)
        return timestamp.map { min($0, earlier) } ?? earlier
    }

    /// The value of the last header with exactly this name, as Kafka's own clients choose among repeated ones.
    package func header(_ name: String) -> [UInt8]? {
        for header in headers.reversed() where header.name.hasSameBytes(as: name) { return header.value }
        return nil
    }

    package var description: String { "\(topic)[\(partition)]@\(offset)" }
}

/// One header of a record, consumed or to be published.
package struct RecordField: Sendable, Hashable, Redacted {
    package let name: String

    /// The bytes; Kafka tells an empty value from none.
    package let value: [UInt8]?

    package init(name: String, value: [UInt8]?) {
        self.name = name
        self.value = value
    }

    /// Bytes of name and value.
    package var size: Int { name.utf8.count + (value?.count ?? 0) }

    package var description: String { name }
}
