// SPDX-License-Identifier: Apache-2.0

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
