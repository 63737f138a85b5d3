// SPDX-License-Identifier: Apache-2.0

/// What may stand in a line of any format: no control character of any kind, and no more than a value's share.
enum LogText {
    /// The longest text of a field, in bytes.
    static let maximumBytes = 512

    /// The most members that an object may have.
    static let maximumMembers = 512

    static func clean(_ value: LogValue) -> LogValue {
        switch value {
        case .text(let text): .text(clean(text))
        case .object(let members):
            .object(members.prefix(maximumMembers).map { LogMember(clean($0.name), clean($0.value)) })
        case .integer, .number, .flag: value
        }
    }

    /// A text without what a terminal or a reader of lines might act on, cut between characters.
    ///
    /// Tabs and line breaks stay, since every format escapes them and they say something.
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
