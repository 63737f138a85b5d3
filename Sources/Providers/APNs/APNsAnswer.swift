// SPDX-License-Identifier: Apache-2.0

import NIOHTTP1
import Verification

/// Apple's answers as outcomes.
enum APNsAnswer {
    /// The outcome of each known reason ("Handling notification responses from APNs", developer.apple.com).
    static let outcomes: [String: ProviderOutcome] = [
        // This device, this app or this push.
        "BadDeviceToken": .refused,
        "DeviceTokenNotForTopic": .refused,
        "ExpiredToken": .refused,
        "Unregistered": .refused,
        "BadTopic": .refused,
        "MissingTopic": .refused,
        "TopicDisallowed": .refused,
        "MissingDeviceToken": .refused,
        "BadCollapseId": .refused,
        "BadExpirationDate": .refused,
        "BadMessageId": .refused,
        "BadPriority": .refused,
        "DuplicateHeaders": .refused,
        "InvalidPushType": .refused,
        "PayloadEmpty": .refused,
        "PayloadTooLarge": .refused,

        // Our key, our team, our address.
        "BadCertificate": .misconfigured,
        "BadCertificateEnvironment": .misconfigured,
        "BadEnvironmentKeyIdInToken": .misconfigured,
        "BadEnvironmentKeyInToken": .misconfigured,
        "BadPath": .misconfigured,
        "ExpiredProviderToken": .misconfigured,
        "Forbidden": .misconfigured,
        "InvalidProviderToken": .misconfigured,
        "MethodNotAllowed": .misconfigured,
        "MissingProviderToken": .misconfigured,
        "UnrelatedKeyIdInToken": .misconfigured,

        // Too much.
        "TooManyProviderTokenUpdates": .throttled,

        // Too much to this device: others go on.
        "TooManyRequests": .notSent,

        // Apple is busy or leaving, and says so in place of taking the push.
        "IdleTimeout": .notSent,
        "ServiceUnavailable": .notSent,
        "Shutdown": .notSent,

        "InternalServerError": .unknown,
    ]

    /// What one exchange came to.
    static func classify(_ result: ExchangeResult, sendID: SendID) -> ProviderAnswer {
        result.providerAnswer(to: nil) { answer in
            if answer.status == 200 { return accepted(answer, sendID: sendID) }
            guard let reason = answer.json?["reason"]?.word, let outcome = outcomes[reason] else {
                return byStatus(answer)
            }
            // A device token that ran out is one that is registered no more.
            let code = reason == "ExpiredToken" ? unregistered : reason
            return answer.answer(outcome, code: code, isOfMessage: reason == "TooManyRequests")
        }
    }

    /// Apple's id of a push is the one that the push came with, in whatever spelling.
    private static func accepted(_ answer: HTTPAnswer, sendID: SendID) -> ProviderAnswer {
        let id = answer.headers.first(name: "apns-id").flatMap { UUIDValue($0) }
        return ProviderAnswer(.accepted, messageID: (id ?? sendID.uuid).description)
    }

    /// Without a reason that is known: Apple documents 410 and 503 as proof that the push was not taken.
    private static func byStatus(_ answer: HTTPAnswer) -> ProviderAnswer {
        switch answer.status {
        case 410: answer.answer(.refused, code: unregistered)
        case 503: answer.answer(.notSent, code: "http_503")
        default: answer.plainAnswer
        }
    }

    private static let unregistered = "Unregistered"
}
