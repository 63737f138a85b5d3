// SPDX-License-Identifier: Apache-2.0

/// Removes the bytes that serializers add around a JSON document.
enum RecordFraming {
    /// The document in a value: the whole value, or the part after a byte order mark or a schema registry's prefix.
    ///
    /// - Throws: `unknownFraming` if the value is compressed, in another format, or in another encoding.
    static func document(in value: [UInt8]) throws(DeadLetterReason) -> [UInt8] {
        guard let first = value.first, !isText(first) else { return value }
        if value.starts(with: byteOrderMark) { return Array(value.dropFirst(byteOrderMark.count)) }
        for length in prefixes[first] ?? [] where isDocument(value.dropFirst(length)) {
            return Array(value.dropFirst(length))
        }
        if first < 0x20 || signatures.contains(where: value.starts) { throw .unknownFraming }
        return value
    }

    /// The lengths of schema registries' prefixes, by their first byte.
    ///
    /// A schema id of four bytes (Confluent) or eight (Apicurio), a schema UUID (Confluent), or a version, a
    /// compression and a UUID (AWS Glue).
    private static let prefixes: [UInt8: [Int]] = [0: [5, 9], 1: [17], 3: [18]]

    private static let byteOrderMark: [UInt8] = [0xef, 0xbb, 0xbf]

    /// The first bytes of UTF-16 in either order, Java serialization, a single Avro object, and Zstandard.
    private static let signatures: [[UInt8]] = [
        [0xfe, 0xff], [0xff, 0xfe], [0xac, 0xed, 0x00, 0x05], [0xc3, 0x01], [0x28, 0xb5, 0x2f, 0xfd],
    ]

    private static func isText(_ byte: UInt8) -> Bool {
        (0x20...0x7e).contains(byte) && byte != 0x28 || byte == 0x09 || byte == 0x0a || byte == 0x0d
    }

    private static func isDocument(_ bytes: ArraySlice<UInt8>) -> Bool {
        let start = bytes.first { ![0x20, 0x09, 0x0a, 0x0d].contains($0) }
        return start.map("{[\"".utf8.contains) ?? false
    }
}
