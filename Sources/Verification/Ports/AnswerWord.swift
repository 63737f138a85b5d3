// SPDX-License-Identifier: Apache-2.0

import Formats

/// Filters texts of providers' answers: ids and codes may be stored, texts that may repeat a number or the message may
/// not.
package enum AnswerWord {
    /// A message id: 1 to 256 characters except control characters, without white space around them.
    ///
    /// Gateways use anything as an id, such as Base64, addresses and phrases, and receipts repeat it. A text with a
    /// plus sign before a phone number's count of digits is rejected, since ids are written to events and rows.
    package static func messageID(_ text: String) -> String? {
        // Nearly every id is printable ASCII, so the common case needs no Unicode properties.
        if text.isASCII(within: 1...256, where: { (0x21...0x7E).contains($0) }) {
            return holdsNumber(text) ? nil : text
        }
        let scalars = text.unicodeScalars
        guard scalars.count <= 512, let first = scalars.firstIndex(where: { !$0.properties.isWhitespace }),
            let last = scalars.lastIndex(where: { !$0.properties.isWhitespace })
        else { return nil }
        let id = scalars[first...last]
        guard id.count <= 256, id.allSatisfy({ !isControl($0) }), !holdsNumber(String(id)) else { return nil }
        return String(id)
    }

    private static func holdsNumber(_ id: String) -> Bool {
        guard id.utf8.contains(UInt8(ascii: "+")) else { return false }
        let parts = id.utf8.split(omittingEmptySubsequences: false) { $0 == UInt8(ascii: "+") }
        return parts.dropFirst().contains { rest in
            rest.prefix { $0.isASCIIDigit }.count >= 7
        }
    }

    private static func isControl(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .control, .lineSeparator, .paragraphSeparator, .surrogate: true
        default: false
        }
    }

    /// An error code: 1 to 64 ASCII letters, digits and `-_.:`, with fewer digits in a row than a phone number has.
    package static func errorCode(_ text: String) -> String? {
        guard let code = word(text, within: 1...64) else { return nil }
        return code.utf8.split { !$0.isASCIIDigit }.allSatisfy { $0.count < 7 } ? code : nil
    }

    private static let marks = Array("-_.:".utf8)

    private static func word(_ text: String, within lengths: ClosedRange<Int>) -> String? {
        text.isASCII(within: lengths) { $0.isASCIILetterOrDigit || marks.contains($0) } ? text : nil
    }
}

extension JSONValue {
    /// A string, or the literal of a number: providers write ids and codes either way.
    package var word: String? {
        switch self {
        case .string(let text): text
        case .number(let number): number.literal
        default: nil
        }
    }
}
