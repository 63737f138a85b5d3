// SPDX-License-Identifier: Apache-2.0

import Formats
import Verification

/// Maps answers of Vonage's Messages API to outcomes.
///
/// An answer is 202 with `message_uuid`, or a problem (RFC 7807) whose `type` ends in a code, such as
/// `https://developer.vonage.com/api-errors/messages#1120`.
enum VonageMessagesAnswer {
    static func classify(_ answer: HTTPAnswer) -> ProviderAnswer {
        let reply = answer.json
        let messageID = reply?["message_uuid"]?.word.flatMap(AnswerWord.messageID)
        if answer.isSuccess, messageID != nil { return ProviderAnswer(.accepted, messageID: messageID) }
        guard answer.isSuccess || answer.status >= 400, let code = reply.flatMap(code) else {
            return answer.plainAnswer
        }
        let known = answer.status <= 499 ? outcomes[code] : nil
        if answer.isSuccess, known == nil { return answer.plainAnswer }
        return answer.answer(known ?? answer.outcome, code: code, isOfMessage: ofMessage.contains(code))
    }

    /// The codes that concern this number or its carrier alone, and do not count against the account.
    private static let ofMessage: Set = ["1241", "1320", "1331", "1461"]

    private static func code(of problem: JSONObject) -> String? {
        guard let parts = problem["type"]?.word?.split(separator: "#", maxSplits: 1), parts.count == 2 else {
            return nil
        }
        return AnswerWord.errorCode(String(parts[1]))
    }

    /// The outcome of each known code, valid for HTTP status 4xx.
    ///
    /// From developer.vonage.com/en/api-errors and …/messages. Codes of other channels and of receipts are left out:
    /// the status decides.
    static let outcomes = numbered.merging(named) { first, _ in first }

    private static let numbered: [String: ProviderOutcome] = [
        // The fault is in our credentials, account or parameters.
        "1010": .misconfigured,  // parameter missing
        "1060": .misconfigured,  // account barred
        "1070": .misconfigured,  // no credit
        "1080": .misconfigured,  // account not enabled for this API
        "1110": .misconfigured,  // signature
        "1130": .misconfigured,  // time to live
        "1140": .misconfigured,  // facility not enabled
        "1242": .misconfigured,  // no such pool of numbers
        "1400": .misconfigured,  // channel not supported
        "1420": .misconfigured,  // sender invalid
        "1440": .misconfigured,  // message type
        "1450": .misconfigured,  // client reference
        "1476": .misconfigured,  // sender on a do-not-originate list

        // The fault is in this message or recipient.
        "1020": .refused,  // a parameter's value
        "1040": .refused,  // not processable, such as an unknown prefix
        "1050": .refused,  // number barred
        "1090": .refused,  // too long
        "1120": .refused,  // sender not allowed in the recipient's country
        "1160": .refused,  // number not listed
        "1170": .refused,  // invalid number
        "1180": .refused,  // destination away
        "1200": .refused,  // number ported
        "1210": .refused,  // taken for spam
        "1220": .refused,  // handset busy
        "1270": .refused,  // age restriction
        "1280": .refused,  // blocked by the carrier
        "1282": .refused,  // blocked by the provider
        "1290": .refused,  // recipient without credit
        "1410": .refused,  // a parameter's value
        "1430": .refused,  // invalid recipient
        "1480": .refused,  // entity id of the recipient's country
        "1481": .refused,  // header id
        "1482": .refused,  // content id
        "1483": .refused,  // consent
        "1484": .refused,  // compliance

        "1240": .optedOut,  // the recipient sent STOP

        // No text message can reach this recipient from this account.
        "1190": .impossible,  // out of service
        "1250": .impossible,  // no route
        "1251": .impossible,  // no route
        "1260": .impossible,  // unreachable
        "1300": .impossible,  // not in the network
        "1310": .impossible,  // device not able

        // Too many messages.
        "1000": .throttled,
        "1241": .throttled,  // to these numbers
        "1460": .throttled,  // a day's limit, such as 10DLC's
        "1461": .throttled,  // by the carrier

        // Blocked by fraud protection.
        "1470": .fraud,  // Fraud Defender's traffic rules
        "1472": .fraud,  // burst protection
        "1473": .fraud,  // artificially inflated traffic
        "1474": .fraud,  // country blocked
        "1475": .fraud,  // network blocked
        "2001": .fraud,  // fraud protection of the carrier

        "1100": .notSent,  // not submitted, communication failure
        "1030": .unknown,  // internal error
        "1320": .unknown,  // sent already
        "1331": .unknown,  // the carrier does not answer
    ]

    private static let named: [String: ProviderOutcome] = [
        "accept-header": .misconfigured,
        "account-suspended": .misconfigured,
        "application-suspended": .misconfigured,
        "content-type-header": .misconfigured,
        "forbidden": .misconfigured,
        "invalid-api-key": .misconfigured,
        "invalid-id": .misconfigured,
        "invalid-ip": .misconfigured,
        "invalid-json": .misconfigured,
        "invalid-signature": .misconfigured,
        "jwt-expired": .misconfigured,
        "jwt-revoked": .misconfigured,
        "low-balance": .misconfigured,
        "multiple-auth-methods": .misconfigured,
        "not-found": .misconfigured,
        "unauthorized": .misconfigured,
        "unprovisioned": .misconfigured,
        "wrong-verb": .misconfigured,
        "invalid-params": .refused,
        "unavailable-legal": .refused,
        "throttled": .throttled,
        "rate-limit": .throttled,
    ]
}
