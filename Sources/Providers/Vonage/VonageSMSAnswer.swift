// SPDX-License-Identifier: Apache-2.0

import Verification

/// Answers of Vonage's SMS API as outcomes: HTTP 200 with one entry, and one status, for each part of the message.
enum VonageSMSAnswer {
    /// The outcome of each documented status but 0 (developer.vonage.com/en/api-errors/sms, and older lists of it).
    static let outcomes: [Int: ProviderOutcome] = [
        // Credentials, account and parameters of ours.
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

        // This message or this recipient.
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
        5: .unknown,  // internal error
    ]

    static func classify(_ answer: HTTPAnswer) -> ProviderAnswer {
        let isSuccess = (200...299).contains(answer.status)
        guard isSuccess || (400...499).contains(answer.status) else { return answer.plainAnswer }
        let parts = parts(of: answer)
        guard let fault = parts.first(where: { $0.status != 0 }) else {
            guard isSuccess, let messageID = parts.first?.messageID else { return answer.plainAnswer }
            return ProviderAnswer(.accepted, messageID: messageID, segments: parts.count)
        }
        if let taken = parts.first(where: { $0.status == 0 }) {
            // Some parts are on their way, so the message must not go out again; without the others the person may
            // not see the code. Receipts of the parts find the send by the id.
            return ProviderAnswer(.unknown, messageID: taken.messageID, errorCode: String(fault.status))
        }
        let outcomes = parts.map { Self.outcomes[$0.status] ?? .unknown }
        let worst = outcomes.contains(.unknown) ? ProviderOutcome.unknown : outcomes[0]
        return answer.answer(worst, code: String(fault.status))
    }

    private struct Part {
        let status: Int
        let messageID: String?
    }

    /// The entries of `messages`; none when one of them has no readable status, since it may have been taken.
    private static func parts(of answer: HTTPAnswer) -> [Part] {
        guard case .array(let entries)? = answer.json?["messages"], entries.count <= 100 else { return [] }
        var parts: [Part] = []
        for entry in entries {
            guard case .object(let object) = entry, let word = object["status"]?.word, word.utf8.count <= 4,
                let status = Int(word), status >= 0
            else { return [] }
            parts.append(Part(status: status, messageID: object["message-id"]?.word.flatMap(AnswerWord.messageID)))
        }
        return parts
    }
}
