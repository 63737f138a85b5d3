// SPDX-License-Identifier: Apache-2.0

import Formats
import Logging

extension LogLine {
    /// The line for people: the time of day, the severity, the event, the message and the fields.
    func text(isColored: Bool) -> [UInt8] {
        var line = TextLine(isColored: isColored)
        line.append(String(time.rfc3339.dropFirst(11).dropLast()), .faint)
        let severity = level.word
        line.append(" " + severity + String(repeating: " ", count: max(1, 7 - severity.utf8.count)), level.style)
        line.append(event, .bold)
        line.append("  " + message.singleLine)
        var isTruncated = false
        for field in fields where !field.value.saysNothing {
            if line.bytes.count + field.value.maximumBytes <= Self.maximumBytes {
                line.append("  \(field.name)=", .faint)
                line.append(field.value.plainText)
            } else {
                isTruncated = true
            }
        }
        if isTruncated { line.append("  \(LogField.truncated.rawValue)=true", .faint) }
        return line.bytes
    }
}

/// Builds text, with colours on a terminal.
private struct TextLine {
    enum Style: String {
        case plain = ""
        case bold = "1"
        case faint = "2"
        case red = "1;31"
        case yellow = "33"
        case green = "32"
    }

    private(set) var bytes: [UInt8] = []
    private let isColored: Bool

    init(isColored: Bool) {
        self.isColored = isColored
        bytes.reserveCapacity(256)
    }

    mutating func append(_ text: String, _ style: Style = .plain) {
        guard isColored, style != .plain else {
            bytes.append(contentsOf: text.utf8)
            return
        }
        bytes.append(contentsOf: "\u{1b}[\(style.rawValue)m\(text)\u{1b}[0m".utf8)
    }
}

extension Logger.Level {
    fileprivate var word: String {
        switch self {
        case .critical: "CRIT"
        case .warning: "WARN"
        default: rawValue.uppercased()
        }
    }

    fileprivate var style: TextLine.Style {
        switch self {
        case .trace, .debug: .faint
        case .info: .plain
        case .notice: .green
        case .warning: .yellow
        case .error, .critical: .red
        }
    }
}

extension LogValue {
    /// True for an object that contains only zeros, which is omitted for people.
    fileprivate var saysNothing: Bool {
        guard case .object(let members) = self else { return false }
        return !members.contains(where: \.isInformative)
    }

    /// The value for people: a text with spaces in quotes, an object in braces without zeros.
    fileprivate var plainText: String {
        switch self {
        case .text(let text): text.isPlain ? text : text.quoted
        case .integer(let number): number.description
        case .number(let number): number.description
        case .flag(let flag): flag.description
        case .object(let members): "{\(members.lazy.filter(\.isInformative).map(\.plainText).joined(separator: " "))}"
        }
    }
}

extension String {
    fileprivate var isPlain: Bool {
        !isEmpty && utf8.allSatisfy { $0 > 0x20 && $0 != UInt8(ascii: "\"") && $0 != UInt8(ascii: "=") }
    }

    fileprivate var quoted: String {
        var writer = JSONWriter(reserving: utf8.count + 2)
        writer.array { $0.element(self) }
        return String(decoding: writer.bytes.dropFirst().dropLast(), as: UTF8.self)
    }

    fileprivate var singleLine: String {
        String(String.UnicodeScalarView(unicodeScalars.map { $0.value < 0x20 ? " " : $0 }))
    }
}

extension LogMember {
    fileprivate var isInformative: Bool { value != .integer(0) && !value.saysNothing }

    fileprivate var plainText: String { "\(name)=\(value.plainText)" }
}
