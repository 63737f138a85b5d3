// SPDX-License-Identifier: Apache-2.0

import Logs
import NIOCore
import NIOHTTP1
import Verification

extension ExchangeResult {
    /// What the exchange came to: an answer by the provider's own reading of it, anything else by what may have left.
    func providerAnswer(_ read: (HTTPAnswer) -> ProviderAnswer) -> ProviderAnswer {
        switch self {
        case .answered(let answer): read(answer)
        case .notSent(.invalidURL): ProviderAnswer(.misconfigured, errorCode: TransportFailure.invalidURL.rawValue)
        case .notSent(.tooLate): .tooLate
        case .notSent(let failure): ProviderAnswer(.notSent, errorCode: failure.rawValue)
        case .unknown(let failure): ProviderAnswer(.unknown, errorCode: failure.rawValue)
        }
    }
}

extension HTTPAnswer {
    /// The outcome of each 4xx status that does not mean a refusal of the one message.
    static let outcomes: [Int: ProviderOutcome] = [
        401: .misconfigured,
        402: .misconfigured,  // the account has no credit
        403: .misconfigured,
        404: .misconfigured,  // every message goes to this one path
        405: .misconfigured,
        407: .misconfigured,
        408: .unknown,  // also a proxy's word for an answer that did not come, to a request that arrived
        429: .throttled,
    ]

    /// The outcome by the status alone, where the body says nothing that is known.
    ///
    /// A success without a readable id is unknown: the provider most likely has the message, and nobody can prove it.
    /// So is an error of the server, which may have come after the message was taken, and 302 or 303, by which servers
    /// answer a form that they have taken (RFC 9110, 15.4.3 and 15.4.4).
    var outcome: ProviderOutcome {
        switch status {
        case 302, 303: .unknown
        case 300...399: .misconfigured
        case 400...499: Self.outcomes[status] ?? .refused
        default: .unknown
        }
    }

    /// The answer by the status alone: the constant names the status or, for a success, what is wrong with its body.
    var plainAnswer: ProviderAnswer {
        answer(outcome, code: (200...299).contains(status) ? unreadable : "http_\(status)")
    }

    /// An answer without a message id, and with the time to wait when the provider states one.
    func answer(_ outcome: ProviderOutcome, code: String, isOfRecipient: Bool = false) -> ProviderAnswer {
        ProviderAnswer(outcome, errorCode: code, retryAfter: retryAfter, isOfRecipient: isOfRecipient)
    }

    /// The body as a JSON object; nil when it is none or was cut.
    var json: JSONObject? {
        guard let body = try? body.get(),
            case .object(let object)? = try? JSONScanner.parse(Array(body.readableBytesView), limits: Self.limits)
        else { return nil }
        return object
    }

    private static let limits = JSONLimits(maximumDepth: 32)

    private var unreadable: String {
        guard case .failure(let cut) = body else { return "no_message_id" }
        return cut.failure.rawValue
    }

    private var retryAfter: Duration? {
        headers.first(name: "Retry-After").flatMap { RetryAfter.wait($0, at: .now) }
    }
}
