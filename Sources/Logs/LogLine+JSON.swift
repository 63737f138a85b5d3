// SPDX-License-Identifier: Apache-2.0

import Formats
import Logging

extension LogLine {
    /// The line as one JSON object, flat except for objects of related figures.
    var json: [UInt8] {
        var writer = JSONWriter(reserving: 512)
        writer.object { line in
            line.member("timestamp", time.precise)
            line.member("severity", level.rawValue)
            line.member("event", event)
            line.member("message", message)
            var isTruncated = false
            for field in fields {
                if line.bytes.count + field.value.maximumBytes <= Self.maximumBytes {
                    line.member(field)
                } else {
                    isTruncated = true
                }
            }
            if isTruncated { line.member(named: LogField.truncated.rawValue, true) }
        }
        return writer.bytes
    }
}

extension JSONWriter {
    /// Writes a field with its JSON type.
    mutating func member(_ field: LogMember) {
        switch field.value {
        case .text(let text): member(named: field.name, text)
        case .integer(let number): member(named: field.name, number)
        case .number(let number): member(named: field.name, number)
        case .flag(let flag): member(named: field.name, flag)
        case .object(let members):
            object(named: field.name) { writer in
                for inner in members { writer.member(inner) }
            }
        }
    }
}

extension LogValue {
    /// An upper estimate of the value's bytes in a line.
    var maximumBytes: Int {
        switch self {
        case .text(let text): 64 + 6 * text.utf8.count
        case .integer, .number, .flag: 96
        case .object(let members): members.reduce(16) { $0 + $1.name.utf8.count + $1.value.estimatedBytes + 8 }
        }
    }

    private var estimatedBytes: Int {
        switch self {
        case .text(let text): 2 + 6 * text.utf8.count
        case .integer(let number): number.description.utf8.count
        case .number: 12
        case .flag: 5
        case .object: maximumBytes
        }
    }
}
