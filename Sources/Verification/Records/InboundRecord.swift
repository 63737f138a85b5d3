// SPDX-License-Identifier: Apache-2.0

package import Formats

/// A consumed Kafka record as unparsed bytes.
///
/// Its description shows only its place: key, value and headers may hold a phone number.
package struct InboundRecord: Sendable, Hashable, Redacted {
    package let topic: String
    package let partition: Int32
    package let offset: Int64

    /// The time of creation or of append, by the topic's setting; nil if Kafka gives none.
    package let timestamp: Timestamp?

    package let key: [UInt8]?

    /// The payload; nil for a tombstone.
    package let value: [UInt8]?

    /// The headers in order; a name may occur more than once.
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

    /// The time of the record's first arrival in Kafka.
    ///
    /// After a redrive, the broker may set a new timestamp; a header keeps the original one. The header can only make a
    /// record older, never younger, whoever wrote it.
    package var firstTimestamp: Timestamp? {
        guard let header = header("dead-letter-timestamp"), header.count <= 19,
            let milliseconds = Int64(String(decoding: header, as: UTF8.self)), milliseconds >= 0
        else { return timestamp }
        let earlier = Timestamp(milliseconds: milliseconds)
        return timestamp.map { min($0, earlier) } ?? earlier
    }

    /// The value of the last header with exactly this name; Kafka's own clients choose the last, too.
    package func header(_ name: String) -> [UInt8]? {
        for header in headers.reversed() where header.name.hasSameBytes(as: name) { return header.value }
        return nil
    }

    package var description: String { "\(topic)[\(partition)]@\(offset)" }
}

package struct RecordField: Sendable, Hashable, Redacted {
    package let name: String

    /// The value; Kafka distinguishes an empty value from none.
    package let value: [UInt8]?

    package init(name: String, value: [UInt8]?) {
        self.name = name
        self.value = value
    }

    package var size: Int { name.utf8.count + (value?.count ?? 0) }

    package var description: String { name }
}
