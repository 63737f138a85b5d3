// SPDX-License-Identifier: Apache-2.0

/// Which of a provider's words may be kept: ids and codes, and no text that may repeat a number or the message.
package enum AnswerWord {
    /// A message id: 1 to 128 letters, digits and `-_.:`.
    package static func messageID(_ text: String) -> String? {
        (1...128).contains(text.utf8.count) && text.utf8.allSatisfy(isWord) ? text : nil
    }

    /// An error code: 1 to 64 such characters, with fewer digits in a row than a phone number has.
    package static func errorCode(_ text: String) -> String? {
        guard text.utf8.count <= 64, messageID(text) != nil else { return nil }
        let digits = text.utf8.split { !isDigit($0) }
        return digits.allSatisfy { $0.count < 7 } ? text : nil
    }

    private static func isDigit(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
    }

    private static func isWord(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "-"),
            UInt8(ascii: "_"), UInt8(ascii: "."), UInt8(ascii: ":"):
            true
        default: isDigit(byte)
        }
    }
}

extension JSONValue {
    /// A string as it is or a number as it is spelt: providers write ids and codes either way.
    package var word: String? {
        switch self {
        case .string(let text): text
        case .number(let number): number.literal
        default: nil
        }
    }
}
