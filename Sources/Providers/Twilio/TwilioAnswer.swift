// SPDX-License-Identifier: Apache-2.0

import NIOHTTP1
import Verification

/// Twilio's answers as outcomes.
enum TwilioAnswer {
    /// The outcome of each known error code (twilio.com/docs/api/errors), valid where the HTTP status is 4xx.
    static let outcomes: [Int: ProviderOutcome] = [
        // Credentials, account and addresses of ours.
        20003: .misconfigured,  // authentication
        20005: .misconfigured,  // account not active
        20008: .misconfigured,  // test credentials
        20404: .misconfigured,  // no such account or resource
        21212: .misconfigured,  // invalid From
        21603: .misconfigured,  // From missing
        21606: .misconfigured,  // From not ours or not able to send
        21609: .misconfigured,  // invalid StatusCallback
        14105: .misconfigured,  // invalid StatusCallback
        21659: .misconfigured,  // From is no Twilio number
        21660: .misconfigured,  // From belongs to another account
        21701: .misconfigured,  // no such messaging service
        21703: .misconfigured,  // messaging service without a usable sender
        21704: .misconfigured,  // messaging service without any sender
        21705: .misconfigured,  // invalid messaging service
        30002: .misconfigured,  // account suspended
        30032: .misconfigured,  // toll-free sender not verified
        30034: .misconfigured,  // 10DLC sender not registered

        // This message or this recipient.
        21211: .refused,  // invalid To
        21215: .refused,  // To not allowed by geographic permissions
        21216: .refused,  // To blocked for the account
        21217: .refused,  // To does not look like a number
        21604: .refused,  // To missing
        21608: .refused,  // trial account, To not verified
        21610: .refused,  // opted out
        21617: .refused,  // text too long
        30004: .refused,  // blocked
        30007: .refused,  // filtered
        60200: .refused,  // invalid parameter

        // No text message reaches this recipient from here.
        21408: .impossible,  // region not enabled
        21612: .impossible,  // no route between To and From
        21614: .impossible,  // To is no mobile number
        21635: .impossible,  // To is a landline

        // Too many messages.
        20429: .throttled,  // too many requests
        21611: .throttled,  // the sender's queue is full
        30001: .throttled,  // queue overflow
        30022: .throttled,  // 10DLC rate

        // Fraud.
        30450: .fraud,  // SMS pumping protection
        60410: .fraud,  // prefix blocked by Verify's fraud guard
        60605: .fraud,  // region blocked by Verify
    ]

    /// The outcome of a 4xx status without a known code.
    static let statusOutcomes: [Int: ProviderOutcome] = [
        401: .misconfigured,
        403: .misconfigured,
        404: .misconfigured,  // every message goes to this one path
        405: .misconfigured,
        407: .misconfigured,
        408: .notSent,  // the request did not arrive whole
        429: .throttled,
    ]

    /// What one exchange came to.
    static func classify(_ result: ExchangeResult) -> ProviderAnswer {
        switch result {
        case .answered(let answer): classify(answer)
        case .notSent(.invalidURL): ProviderAnswer(.misconfigured, errorCode: TransportFailure.invalidURL.rawValue)
        case .notSent(let failure): ProviderAnswer(.notSent, errorCode: failure.rawValue)
        case .unknown(let failure): ProviderAnswer(.unknown, errorCode: failure.rawValue)
        }
    }

    private static func classify(_ answer: HTTPAnswer) -> ProviderAnswer {
        let reply = (try? answer.body.get()).flatMap { TwilioReply($0) }
        let retryAfter = retryAfter(in: answer.headers)
        switch answer.status {
        case 200...299:
            return success(reply, answer)
        case 300...399:
            return ProviderAnswer(.misconfigured, errorCode: "http_\(answer.status)")
        case 400...499:
            let known = reply?.code.flatMap { outcomes[$0] }
            let outcome = known ?? statusOutcomes[answer.status] ?? .refused
            return ProviderAnswer(outcome, errorCode: errorCode(reply, answer), retryAfter: retryAfter)
        default:
            return ProviderAnswer(.unknown, errorCode: errorCode(reply, answer), retryAfter: retryAfter)
        }
    }

    /// A success without a readable id: Twilio most likely has the message, and nobody can prove it.
    private static func success(_ reply: TwilioReply?, _ answer: HTTPAnswer) -> ProviderAnswer {
        if let messageID = reply?.sid {
            return ProviderAnswer(.accepted, messageID: messageID, segments: reply?.segments)
        }
        guard case .failure(let cut) = answer.body else {
            return ProviderAnswer(.unknown, errorCode: "no_message_id")
        }
        return ProviderAnswer(.unknown, errorCode: cut.failure.rawValue)
    }

    /// The provider's own code where there is one, else the status.
    private static func errorCode(_ reply: TwilioReply?, _ answer: HTTPAnswer) -> String {
        reply?.code.map { String($0) } ?? "http_\(answer.status)"
    }

    /// The `Retry-After` header in seconds, at most a day; the form with a date is not read.
    private static func retryAfter(in headers: HTTPHeaders) -> Duration? {
        guard let text = headers.first(name: "Retry-After"), let seconds = Int64(text), seconds >= 0 else { return nil }
        return .seconds(min(seconds, 86_400))
    }
}
