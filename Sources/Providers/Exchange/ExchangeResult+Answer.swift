// SPDX-License-Identifier: Apache-2.0

import Formats
import Logs
import NIOCore
import NIOHTTP1
import Verification

extension ExchangeResult {
    /// Maps the exchange to an answer: a response by `read`, a failure by whether the request may have been sent.
    ///
    /// Ids and codes that contain the recipient's number are removed.
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
        408: .unknown,  // also sent by a proxy when the server did not answer a request that may have arrived
        429: .throttled,
    ]

    /// The outcome by the status alone, where the body has no known code.
    ///
    /// A success is an acceptance, with or without an id. A server error is unknown, since it may have come after the
    /// message was taken, and so is 302 or 303, with which servers answer a form that they have taken (RFC 9110, 15.4.3
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

    /// The answer by the status alone, with the status as its code.
    var plainAnswer: ProviderAnswer {
        isSuccess ? ProviderAnswer(.accepted) : answer(outcome, code: "http_\(status)")
    }

    /// The answer to a success whose body was cut, where only the body distinguishes refusal from acceptance; else nil.
    ///
    /// It concerns this message only: the provider is reachable.
    var answerInDoubt: ProviderAnswer? {
        guard isSuccess, case .failure(let cut) = body, content == nil else { return nil }
        return answer(.unknown, code: cut.failure.rawValue, isOfMessage: true)
    }

    /// An answer without a message id, with the provider's `Retry-After` when there is one.
    func answer(_ outcome: ProviderOutcome, code: String, isOfMessage: Bool = false) -> ProviderAnswer {
        ProviderAnswer(outcome, errorCode: code, retryAfter: retryAfter, isOfMessage: isOfMessage)
    }

    /// The body as a JSON object; nil when it is none or incomplete.
    var json: JSONObject? {
        guard case .object(let object)? = document else { return nil }
        return object
    }

    /// The body as JSON, parsed leniently: a malformed answer still reports an acceptance or a refusal.
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
    /// True when the bytes begin with a complete JSON object or list.
    static func isWhole(_ bytes: [UInt8]) -> Bool {
        switch try? parse(bytes, limits: .ofAnswers) {
        case .object?, .array?: true
        default: false
        }
    }
}

extension ProviderAnswer {
    /// The answer without an id or code that contains the recipient's number in any spelling.
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
    /// True when the text contains these digits in a row, ignoring all other characters.
    fileprivate func holds(_ digits: [UInt8]) -> Bool {
        let own = utf8.filter { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
        guard own.count >= digits.count else { return false }
        return (0...(own.count - digits.count)).contains { own[$0...].starts(with: digits) }
    }
}
