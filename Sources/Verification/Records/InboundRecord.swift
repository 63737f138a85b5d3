// SPDX-License-Identifier: Apache-2.0

package import Formats

/// A consumed Kafka record as unparsed bytes.
///
/// Its description shows only its place: key, value and headers may hold a phone number. A class, since it is large,
/// never changes, and is passed from stage to stage.
package final class InboundRecord: Sendable, Equatable, Redacted {
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

    package static func == (one: InboundRecord, other: InboundRecord) -> Bool {
        one.topic == other.topic && one.partition == other.partition && one.offset == other.offset
            && one.timestamp == other.timestamp && one.key == other.key && one.value == other.value
            && one.headers == other.headers
    }
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

extension InboundRecord {
    /// The whole record as one byte string, to be stored in a row.
    package var stored: [UInt8] {
        var fields = [
            RecordField("topic", topic), RecordField("partition", String(partition)),
            RecordField("offset", String(offset)),
            RecordField(name: "timestamp", value: timestamp.map { Array(String($0.microseconds).utf8) }),
            RecordField(name: "key", value: key), RecordField(name: "value", value: value),
        ]
        fields += headers
        return RecordField.encode(fields)
    }

    /// Reads the format of `stored`; other bytes give an empty record.
    package convenience init(stored bytes: [UInt8]) {
        var fields = RecordField.decode(bytes)[...]
        func next() -> [UInt8]? { fields.popFirst()?.value }
        func text() -> String { String(decoding: next() ?? [], as: UTF8.self) }
        self.init(
            topic: text(),
            partition: Int32(text()) ?? -1,
            offset: Int64(text()) ?? -1,
            timestamp: Int64(text()).map { Timestamp(microseconds: $0) },
            key: next(),
            value: next(),
            headers: Array(fields)
        )
    }
}

extension RecordField {
    package init(_ name: String, _ value: String) {
        self.init(name: name, value: Array(value.utf8))
    }

    /// Encodes headers as one byte string.
    ///
    /// Each header is three joined fields: its name, the byte 1 or 0 for a value or none, and the value.
    package static func encode(_ headers: [RecordField]) -> [UInt8] {
        var fields = FieldJoiner(reserving: 512)
        for header in headers {
            fields.append(header.name)
            fields.append(header.value == nil ? Self.absent : Self.present)
            fields.append(header.value ?? [])
        }
        return fields.bytes
    }

    private static let absent: [UInt8] = [0]
    private static let present: [UInt8] = [1]

    /// Decodes the format of `encode`; unreadable bytes end the list.
    package static func decode(_ bytes: [UInt8]) -> [RecordField] {
        var fields = FieldSplitter(bytes)
        var headers: [RecordField] = []
        while let name = fields.next(), let marker = fields.next(), let value = fields.next() {
            let name = String(decoding: name, as: UTF8.self)
            headers.append(RecordField(name: name, value: marker == present ? value : nil))
        }
        return headers
    }
}

struct FieldSplitter {
    private var rest: ArraySlice<UInt8>

    init(_ bytes: [UInt8]) {
        rest = bytes[...]
    }

    mutating func next() -> [UInt8]? {
        guard rest.count >= 4 else { return nil }
        let length = rest.prefix(4).reduce(0) { $0 << 8 | Int($1) }
        guard rest.count - 4 >= length else { return nil }
        let field = Array(rest.dropFirst(4).prefix(length))
        rest = rest.dropFirst(4 + length)
        return field
    }
}
