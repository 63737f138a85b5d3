// SPDX-License-Identifier: Apache-2.0

import Verification

/// The fields read from Twilio's JSON, each absent where it is missing or not of its type.
///
/// Successes carry `sid` and `num_segments`, refusals `code`. Texts are never read: they repeat the number.
struct TwilioReply {
    let sid: String?
    let segments: Int?
    let code: Int?

    init(_ object: JSONObject) {
        sid = object.text("sid").flatMap { Self.isIdentifier($0) ? $0 : nil }
        segments = Self.number(object["num_segments"], within: 1...100)
        code = Self.number(object["code"], within: 1...999_999)
    }

    /// A number that comes as a number or, as `num_segments` does, as a string of digits.
    private static func number(_ value: JSONValue?, within range: ClosedRange<Int>) -> Int? {
        value?.word.flatMap { Int($0) }.flatMap { range.contains($0) ? $0 : nil }
    }

    /// What may be kept as a message id: up to 64 letters, digits, `-` and `_`.
    private static func isIdentifier(_ text: String) -> Bool {
        (1...64).contains(text.utf8.count)
            && text.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                    UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"):
                    true
                default: false
                }
            }
    }
}
