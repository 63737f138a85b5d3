// SPDX-License-Identifier: Apache-2.0

/// Encodes text as quoted-printable (RFC 2045, section 6.7): ASCII in lines of at most 76 characters.
enum QuotedPrintable {
    /// The encoded text; every kind of line break becomes CR LF.
    static func encoded(_ text: String) -> [UInt8] {
        var encoded: [UInt8] = []
        encoded.reserveCapacity(text.utf8.count * 5 / 4)
        // A CR LF is one `Character`, so the split sees it as one line break.
        for (index, line) in text.split(omittingEmptySubsequences: false, whereSeparator: isLineBreak).enumerated() {
            if index > 0 { encoded += lineBreak }
            append(line, to: &encoded)
        }
        return encoded
    }

    private static func isLineBreak(_ character: Character) -> Bool {
        character == "\r\n" || character == "\n" || character == "\r"
    }

    private static func append(_ line: Substring, to encoded: inout [UInt8]) {
        var width = 0
        var rest = line.utf8
        while let byte = rest.popFirst() {
            let unit = unit(byte, isLast: rest.isEmpty)
            // The 76th column is reserved for the soft line break "=".
            if width + unit.count > 75 {
                encoded.append(UInt8(ascii: "="))
                encoded += lineBreak
                width = 0
            }
            encoded += unit
            width += unit.count
        }
    }

    /// A byte as itself or as `=XX`; white space at the end of a line is escaped because servers strip it.
    private static func unit(_ byte: UInt8, isLast: Bool) -> [UInt8] {
        switch byte {
        case UInt8(ascii: "="): break
        case 0x21...0x7e: return [byte]
        case UInt8(ascii: " ") where !isLast, UInt8(ascii: "\t") where !isLast: return [byte]
        default: break
        }
        return [UInt8(ascii: "="), upperHexDigits[Int(byte >> 4)], upperHexDigits[Int(byte & 15)]]
    }

    private static let lineBreak = Array("\r\n".utf8)
}
