// SPDX-License-Identifier: Apache-2.0

import Formats

/// The parameters of an `application/x-www-form-urlencoded` body; of repeated ones the last counts.
struct FormParameters {
    private var values: [String: String] = [:]

    /// Parses any bytes: an invalid escape is kept literally, invalid UTF-8 becomes U+FFFD.
    init(_ bytes: some Collection<UInt8>) {
        for pair in bytes.split(separator: UInt8(ascii: "&")) {
            let parts = pair.split(separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
            values[Self.decoded(parts[0])] = parts.count > 1 ? Self.decoded(parts[1]) : ""
        }
    }

    /// The value, or `nil` when it is absent or empty.
    subscript(name: String) -> String? {
        guard let value = values[name], !value.isEmpty else { return nil }
        return value
    }

    private static func decoded(_ bytes: some Collection<UInt8>) -> String {
        var result: [UInt8] = []
        result.reserveCapacity(bytes.count)
        var rest = bytes[...]
        while let byte = rest.popFirst() {
            if byte == UInt8(ascii: "+") {
                result.append(UInt8(ascii: " "))
            } else if byte == UInt8(ascii: "%"), let escaped = escapedByte(rest.prefix(2)) {
                result.append(escaped)
                rest = rest.dropFirst(2)
            } else {
                result.append(byte)
            }
        }
        return String(decoding: result, as: UTF8.self)
    }

    private static func escapedByte(_ digits: some Collection<UInt8>) -> UInt8? {
        guard digits.count == 2 else { return nil }
        return Hexadecimal.bytes(digits)?.first
    }
}
