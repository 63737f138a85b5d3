// SPDX-License-Identifier: Apache-2.0

import Formats

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
