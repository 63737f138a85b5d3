// SPDX-License-Identifier: Apache-2.0

import Logs
import NIOCore
import NIOHTTP1
import Verification

extension ExchangeResult {
    /// What the exchange came to: an answer by the provider's own reading of it, anything else by what may have left.
    ///
    /// No word of it is kept that holds the recipient's number.
    func providerAnswer(to recipient: Recipient?, _ read: (HTTPAnswer) -> ProviderAnswer) -> ProviderAnswer {
        switch self {
        case .answered(let answer): read(answer).hiding(recipient)
        case .notSent(.invalidURL): ProviderAnswer(.misconfigured, errorCode: TransportFailure.invalidURL.rawValue)
        case .notSent(.tooLate): .tooLate
        case .notSent(.tooManyFiles): .withoutFiles
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
    /// A success is an acceptance, with or without an id. An error of the server is unknown, since it may have come after
    /// the message was taken, and so is 302 or 303, by which servers answer a form that they have taken (RFC 9110, 15.4.3
    /// and 15.4.4).
    var outcome: ProviderOutcome {
        switch status {
        case 200...299: .accepted
        case 302, 303: .unknown
        case 300...399: .misconfigured
        case 400...499: Self.outcomes[status] ?? .refused
        default: .unknown
        }
    }

    /// The answer by the status alone, which its constant names.
    var plainAnswer: ProviderAnswer {
        isSuccess ? ProviderAnswer(.accepted) : answer(outcome, code: "http_\(status)")
    }

    /// The answer to a success whose body was cut where the body alone tells a refusal from an acceptance; else nil.
    ///
    /// The provider is alive, whatever it said.
    var answerInDoubt: ProviderAnswer? {
        guard isSuccess, case .failure(let cut) = body, content == nil else { return nil }
        return answer(.unknown, code: cut.failure.rawValue, isOfMessage: true)
    }

    /// An answer without a message id, and with the time to wait when the provider states one.
    func answer(_ outcome: ProviderOutcome, code: String, isOfMessage: Bool = false) -> ProviderAnswer {
        ProviderAnswer(outcome, errorCode: code, retryAfter: retryAfter, isOfMessage: isOfMessage)
    }

    /// The body as a JSON object; nil when it is none or not whole.
    var json: JSONObject? {
        guard case .object(let object)? = document else { return nil }
        return object
    }

    /// The body as JSON, read tolerantly: who wrote it has taken or refused the message all the same.
    var document: JSONValue? {
        content.flatMap { try? JSONScanner.parse($0, limits: .ofAnswers) }
    }

    var retryAfter: Duration? {
        headers.first(name: "Retry-After").flatMap { RetryAfter.wait($0, at: .now) }
    }
}

extension JSONLimits {
    fileprivate static let ofAnswers = JSONLimits(maximumDepth: 32, isTolerant: true)
}

extension JSONScanner {
    /// Whether bytes begin with an object or a list that has its end.
    static func isWhole(_ bytes: [UInt8]) -> Bool {
        switch try? parse(bytes, limits: .ofAnswers) {
        case .object?, .array?: true
        default: false
        }
    }
}

extension ProviderAnswer {
    /// The same without an id or a code that has the recipient's number in it, however it is spelt.
    fileprivate func hiding(_ recipient: Recipient?) -> ProviderAnswer {
        guard case .phone(let number) = recipient else { return self }
        let digits = Array(number.e164.utf8.dropFirst())
        let isSafe = { (text: String) in !text.holds(digits) }
        if [messageID, errorCode].allSatisfy({ $0.map(isSafe) ?? true }) { return self }
        return ProviderAnswer(
            outcome,
            messageID: messageID.flatMap { isSafe($0) ? $0 : nil },
            segments: segments,
            errorCode: errorCode.flatMap { isSafe($0) ? $0 : nil },
            retryAfter: retryAfter,
            isOfMessage: isOfMessage
        )
    }
}

extension String {
    /// Whether digits follow each other in it, whatever else stands between them.
    fileprivate func holds(_ digits: [UInt8]) -> Bool {
        let own = utf8.filter { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
        guard own.count >= digits.count else { return false }
        return (0...(own.count - digits.count)).contains { own[$0...].starts(with: digits) }
    }
}
