// SPDX-License-Identifier: Apache-2.0

import Formats

/// The value of a field, with its JSON type.
///
/// A value that describes itself without its secret (`Redacted`) becomes that description; there is no other way to log
/// a recipient or a key.
package enum LogValue: Sendable, Equatable {
    case text(String)
    case integer(Int64)
    case number(Double)
    case flag(Bool)

    case object([LogMember])

    package init(_ value: some CustomStringConvertible & Sendable) {
        self = .text(value.description)
    }

    package init(_ value: Int) {
        self = .integer(Int64(value))
    }

    /// An error's description if its type is a `LoggableError`, else the type's name.
    package init(_ error: any Error) {
        self = .text(error is any LoggableError ? "\(error)" : "\(type(of: error))")
    }

    /// Milliseconds with three decimals.
    package static func milliseconds(_ duration: Duration) -> LogValue {
        .number(Double(duration.microseconds) / 1000)
    }
}

/// An error whose description is safe to log: no phone number, address, code, secret, URL or parameter.
///
/// A library's error may quote a URL with its password, so an error that is not known to be safe is logged by its type
/// only.
package protocol LoggableError: Error {}

/// One member of an object in a line.
package struct LogMember: Sendable, Equatable {
    package let name: String
    package let value: LogValue

    package init(_ name: String, _ value: LogValue) {
        self.name = name
        self.value = value
    }
}

extension LogValue: ExpressibleByStringInterpolation {
    package init(stringLiteral value: String) {
        self = .text(value)
    }
}

extension LogValue: ExpressibleByIntegerLiteral {
    package init(integerLiteral value: Int64) {
        self = .integer(value)
    }
}

extension LogValue: CustomStringConvertible {
    package var description: String {
        switch self {
        case .text(let text): text
        case .integer(let number): "\(number)"
        case .number(let number): "\(number)"
        case .flag(let flag): "\(flag)"
        case .object(let members): "{\(members.map { "\($0.name):\($0.value)" }.joined(separator: ","))}"
        }
    }
}

/// Cleans values for all formats: removes control characters and truncates long values.
enum LogText {
    /// The maximum size of a text, in bytes.
    static let maximumBytes = 512

    /// The maximum number of an object's members.
    static let maximumMembers = 512

    static func clean(_ value: LogValue) -> LogValue {
        switch value {
        case .text(let text): .text(clean(text))
        case .object(let members):
            .object(members.prefix(maximumMembers).map { LogMember(clean($0.name), clean($0.value)) })
        case .integer, .number, .flag: value
        }
    }

    /// The text without characters that a terminal or a line reader would interpret, truncated between characters.
    ///
    /// Tabs and line breaks stay, since every format escapes them and they carry meaning.
    static func clean(_ text: String) -> String {
        if text.utf8.count <= maximumBytes, text.utf8.allSatisfy({ (0x20...0x7e).contains($0) }) { return text }
        var clean = ""
        var count = 0
        for scalar in text.unicodeScalars {
            let scalar = isHarmless(scalar) ? scalar : "\u{fffd}"
            count += UTF8.width(scalar)
            if count > maximumBytes { return clean + "…" }
            clean.unicodeScalars.append(scalar)
        }
        return clean
    }

    private static func isHarmless(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar {
        case "\t", "\n", "\r": true
        default:
            switch scalar.properties.generalCategory {
            case .control, .format, .lineSeparator, .paragraphSeparator, .unassigned, .privateUse: false
            default: true
            }
        }
    }
}
