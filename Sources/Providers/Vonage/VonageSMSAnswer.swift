// SPDX-License-Identifier: Apache-2.0

import Formats
import Verification

/// Maps answers of Vonage's SMS API to outcomes: HTTP 200 with an entry and a status for each part of the message.
enum VonageSMSAnswer {
    /// The outcome of each documented status except 0 (developer.vonage.com/en/api-errors/sms, and older lists of it).
    ///
    /// Any status but 0, documented or not, means that the part was not taken.
    static let outcomes: [Int: ProviderOutcome] = [
        // The fault is in our credentials, account or parameters.
        2: .misconfigured,  // parameter missing
        4: .misconfigured,  // credentials
        8: .misconfigured,  // account suspended
        9: .misconfigured,  // no credit
        11: .misconfigured,  // account not enabled for this API
        14: .misconfigured,  // signature
        16: .misconfigured,  // time to live
        19: .misconfigured,  // facility not enabled
        23: .misconfigured,  // callback URL
        32: .misconfigured,  // signature and secret at once

        // The fault is in this message or recipient.
        3: .refused,  // a parameter's value, most likely the number
        6: .refused,  // not processable, such as an unknown prefix
        7: .refused,  // number barred
        12: .refused,  // too long
        15: .refused,  // sender not allowed in the recipient's country
        17: .refused,  // blocked by the carrier
        20: .refused,  // message class
        22: .refused,  // network code
        29: .refused,  // demonstration account, number not listed
        34: .refused,  // invalid number

        33: .impossible,  // number out of service
        1: .throttled,  // faster than the account may
        10: .throttled,  // too many connections
        13: .notSent,  // not submitted, communication failure
        5: .unknown,  // internal error while the message was processed, as 1030 of the Messages API
    ]

    static func classify(_ answer: HTTPAnswer) -> ProviderAnswer {
        guard answer.isSuccess || (400...499).contains(answer.status) else { return answer.plainAnswer }
        if let inDoubt = answer.answerInDoubt { return inDoubt }
        let parts = parts(of: answer)
        let faults = parts.filter { !$0.isTaken }
        // If one part may have been accepted, the outcome is unknown, whatever happened to the others.
        guard let fault = faults.first(where: { $0.outcome == .unknown }) ?? faults.first else {
            guard answer.isSuccess else { return answer.plainAnswer }
            let messageID = parts.lazy.compactMap(\.messageID).first
            return ProviderAnswer(.accepted, messageID: messageID, segments: parts.isEmpty ? nil : parts.count)
        }
        let code = fault.status.flatMap(AnswerWord.errorCode) ?? "http_\(answer.status)"
        if let taken = parts.first(where: \.isTaken) {
            // Some parts are in flight, so the message must not be sent again; without the rest the person may not see
            // the code. Receipts of the parts find the send by the id.
            return ProviderAnswer(.unknown, messageID: taken.messageID, errorCode: code, isOfMessage: true)
        }
        return answer.answer(fault.outcome ?? (answer.isSuccess ? .refused : answer.outcome), code: code)
    }

    private struct Part {
        /// The status as spelt; nil where the part has none.
        let status: String?
        let messageID: String?

        /// The outcome of the status; nil for an unknown status.
        var outcome: ProviderOutcome? { status.flatMap { Int($0) }.flatMap { VonageSMSAnswer.outcomes[$0] } }

        /// True for status 0, and for a part without a status in a successful answer.
        var isTaken: Bool { status.map { Double($0) == 0 } ?? true }
    }

    /// The entries of `messages`, or `messages` itself as the only entry; empty where it is no list of objects.
    private static func parts(of answer: HTTPAnswer) -> [Part] {
        let messages = answer.json?["messages"]
        let entries =
            switch messages {
            case .array(let list)? where list.count <= 100: list
            case .object?: [messages].compactMap(\.self)
            default: [JSONValue]()
            }
        return entries.compactMap { entry in
            guard case .object(let object) = entry else { return nil }
            let status = object["status"]?.word.map { $0.filter { !$0.isWhitespace } }.flatMap { $0.isEmpty ? nil : $0 }
            return Part(status: status, messageID: object["message-id"]?.word.flatMap(AnswerWord.messageID))
        }
    }
}
