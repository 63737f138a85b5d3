// SPDX-License-Identifier: Apache-2.0

import Formats

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
    package init(stored bytes: [UInt8]) {
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
