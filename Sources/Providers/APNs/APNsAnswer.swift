// SPDX-License-Identifier: Apache-2.0

import Formats
import NIOHTTP1
import Verification

/// Maps Apple's answers to outcomes.
enum APNsAnswer {
    /// The outcome of each known reason ("Handling notification responses from APNs", developer.apple.com).
    static let outcomes: [String: ProviderOutcome] = [
        // The fault is in this device token, app or push.
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

        // The fault is in our key, team or address.
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

        // Too many requests of ours.
        "TooManyProviderTokenUpdates": .throttled,

        // Too many pushes to this one device: pushes to other devices continue.
        "TooManyRequests": .notSent,

        // Apple is overloaded or closing the connection, and states that it did not take the push.
        "IdleTimeout": .notSent,
        "ServiceUnavailable": .notSent,
        "Shutdown": .notSent,

        "InternalServerError": .unknown,
    ]

    /// Maps the result of one exchange to an answer.
    static func classify(_ result: ExchangeResult, sendID: SendID) -> ProviderAnswer {
        result.providerAnswer(to: nil) { answer in
            if answer.status == 200 { return accepted(answer, sendID: sendID) }
            guard let reason = answer.json?["reason"]?.word, let outcome = outcomes[reason] else {
                return byStatus(answer)
            }
            // An expired device token is no longer registered.
            let code = reason == "ExpiredToken" ? unregistered : reason
            return answer.answer(outcome, code: code, isOfMessage: reason == "TooManyRequests")
        }
    }

    /// An accepted push with its `apns-id`, parsed because Apple may change the spelling of the id that was sent.
    private static func accepted(_ answer: HTTPAnswer, sendID: SendID) -> ProviderAnswer {
        let id = answer.headers.first(name: "apns-id").flatMap { UUIDValue($0) }
        return ProviderAnswer(.accepted, messageID: (id ?? sendID.uuid).description)
    }

    /// The answer by status when the reason is unknown: Apple documents 410 and 503 as proof that it did not take the
    /// push.
    private static func byStatus(_ answer: HTTPAnswer) -> ProviderAnswer {
        switch answer.status {
        case 410: answer.answer(.refused, code: unregistered)
        case 503: answer.answer(.notSent, code: "http_503")
        default: answer.plainAnswer
        }
    }

    private static let unregistered = "Unregistered"
}
