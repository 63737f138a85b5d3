// SPDX-License-Identifier: Apache-2.0

import Verification

/// The fields read from Twilio's JSON, each nil where it is missing or of another type.
///
/// Successes carry `sid` and `num_segments`, refusals `code`. Texts are never read, since they repeat the number.
struct TwilioReply {
    let sid: String?
    let segments: Int?
    let code: Int?

    /// True when Twilio created the message but reports that it will not send it.
    let isFailed: Bool

    init(_ object: JSONObject) {
        sid = object["sid"]?.word.flatMap(AnswerWord.messageID)
        segments = Self.number(object["num_segments"], within: 1...100)
        let fault = Self.number(object["error_code"], within: 1...999_999)
        code = fault ?? Self.number(object["code"], within: 1...999_999)
        let isUnsent = ["failed", "undelivered", "canceled"].contains(object.text("status"))
        isFailed = isUnsent || fault != nil || (sid == nil && code != nil)
    }

    /// Reads a JSON number or, as in `num_segments`, a string of digits.
    private static func number(_ value: JSONValue?, within range: ClosedRange<Int>) -> Int? {
        value?.word.flatMap { Int($0) }.flatMap { range.contains($0) ? $0 : nil }
    }
}
