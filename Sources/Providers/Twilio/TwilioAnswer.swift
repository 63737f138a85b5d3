// SPDX-License-Identifier: Apache-2.0

import Formats
import Verification

/// Maps Twilio's answers to outcomes.
enum TwilioAnswer {
    /// The outcome of each known error code (twilio.com/docs/api/errors), valid for HTTP status 4xx.
    static let outcomes: [Int: ProviderOutcome] = [
        // The fault is in our credentials, account or addresses.
        20003: .misconfigured,  // authentication
        20005: .misconfigured,  // account not active
        20008: .misconfigured,  // test credentials
        20404: .misconfigured,  // no such account or resource
        21212: .misconfigured,  // invalid From
        21603: .misconfigured,  // From missing
        21606: .misconfigured,  // From not ours, or cannot send
        21609: .misconfigured,  // invalid StatusCallback
        14105: .misconfigured,  // invalid StatusCallback
        21659: .misconfigured,  // From is no Twilio number
        21660: .misconfigured,  // From belongs to another account
        21661: .misconfigured,  // From cannot send SMS
        21701: .misconfigured,  // no such messaging service
        21703: .misconfigured,  // messaging service without a usable sender
        21704: .misconfigured,  // messaging service without any sender
        21705: .misconfigured,  // invalid messaging service
        30002: .misconfigured,  // account suspended
        30032: .misconfigured,  // toll-free sender not verified
        30034: .misconfigured,  // 10DLC sender not registered

        // The fault is in this message or recipient.
        21211: .refused,  // invalid To
        21215: .refused,  // To not allowed by geographic permissions
        21216: .refused,  // To blocked for the account
        21217: .refused,  // To does not look like a number
        21604: .refused,  // To missing
        21608: .refused,  // trial account, To not verified
        21617: .refused,  // text too long
        30004: .refused,  // blocked
        30007: .refused,  // filtered
        60200: .refused,  // invalid parameter

        21610: .optedOut,  // the recipient sent STOP

        // No text message can reach this recipient from this account.
        21408: .impossible,  // region not enabled
        21612: .impossible,  // no route between To and From
        21614: .impossible,  // To is no mobile number
        21635: .impossible,  // To is a landline

        // Too many messages.
        14107: .throttled,  // between these two numbers
        20429: .throttled,  // too many requests
        21611: .throttled,  // the sender's queue is full
        30001: .throttled,  // queue overflow
        30022: .throttled,  // 10DLC rate

        // Blocked by fraud protection.
        30450: .fraud,  // SMS pumping protection
        30453: .fraud,  // SMS pumping protection, for hours
        60410: .fraud,  // prefix blocked by Verify's fraud guard
        60605: .fraud,  // region blocked by Verify
    ]

    /// The codes that concern this number alone, and do not count against the account.
    private static let ofMessage: Set = [14107]

    /// The outcome of a code from the table, or by its class.
    ///
    /// A code that the table lacks, with a status that means no more than a refusal, is judged by its class: 10xxx and
    /// 20xxx concern the account and its access.
    private static func outcome(of code: Int, status: ProviderOutcome) -> ProviderOutcome? {
        if let known = outcomes[code] { return known }
        return status == .refused && [10, 20].contains(code / 1000) ? .misconfigured : nil
    }

    static func classify(_ answer: HTTPAnswer) -> ProviderAnswer {
        let reply = answer.json.map { TwilioReply($0) }
        if answer.isSuccess {
            guard let reply, reply.isFailed else {
                return ProviderAnswer(.accepted, messageID: reply?.sid, segments: reply?.segments)
            }
            let outcome = reply.code.flatMap { Self.outcome(of: $0, status: .refused) } ?? ProviderOutcome.refused
            return answer.answer(outcome, code: reply.code.map(String.init) ?? "http_\(answer.status)")
        }
        guard answer.status >= 400, let code = reply?.code else { return answer.plainAnswer }
        let known = answer.status <= 499 ? Self.outcome(of: code, status: answer.outcome) : nil
        return answer.answer(known ?? answer.outcome, code: String(code), isOfMessage: ofMessage.contains(code))
    }
}

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
