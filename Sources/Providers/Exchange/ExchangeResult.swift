// SPDX-License-Identifier: Apache-2.0

import Formats
import Logs
import NIOCore
import NIOHTTP1
import Verification

/// The result of one request.
enum ExchangeResult: Sendable {
    /// The answer's head was received, and its body whole or in part.
    case answered(HTTPAnswer)

    /// The request's body was not and will not be sent.
    case notSent(TransportFailure)

    /// The request may have arrived.
    case unknown(TransportFailure)
}

/// An answer of at most `maximumSize` bytes.
struct HTTPAnswer: Sendable {
    static let maximumSize = 64 * 1024

    let status: Int
    let headers: HTTPHeaders
    let body: Result<ByteBuffer, AnswerCut>

    var isSuccess: Bool { (200...299).contains(status) }

    /// The body's bytes, decompressed and in UTF-8; nil when it was cut before its content was complete.
    ///
    /// A JSON document that is complete counts in spite of a wrong length or a connection that stays open.
    var content: [UInt8]? {
        switch body {
        case .success(let body): return plain(body)
        case .failure(let cut):
            let bytes = plain(cut.received)
            return JSONScanner.isWhole(bytes) ? bytes : nil
        }
    }

    private func plain(_ body: ByteBuffer) -> [UInt8] {
        let bytes = Array(body.readableBytesView)
        // Some gateways compress without a Content-Encoding header: the gzip magic number identifies those.
        let isCompressed = bytes.starts(with: [0x1F, 0x8B]) || headers.contains(name: "Content-Encoding")
        return Self.fromUTF16(isCompressed ? Inflated.bytes(bytes) ?? bytes : bytes)
    }

    /// Converts UTF-16 with a byte order mark to UTF-8; returns other text as it is.
    private static func fromUTF16(_ bytes: [UInt8]) -> [UInt8] {
        let isLittle = bytes.starts(with: [0xFF, 0xFE])
        guard isLittle || bytes.starts(with: [0xFE, 0xFF]) else { return bytes }
        let units = stride(from: 2, to: bytes.count - 1, by: 2).map { index in
            let (first, second) = (UInt16(bytes[index]), UInt16(bytes[index + 1]))
            return isLittle ? second << 8 | first : first << 8 | second
        }
        return Array(String(decoding: units, as: UTF16.self).utf8)
    }
}

/// The answer ended before its body was complete.
struct AnswerCut: Error {
    let failure: TransportFailure

    /// The part of the body that was received.
    var received = ByteBuffer()
}

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
        404: .misconfigured,  // every message goes to this one address
        405: .misconfigured,
        407: .misconfigured,
        408: .unknown,  // a proxy also sends it if the server did not answer a request that may have arrived
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

/// Parses the header `Retry-After` (RFC 9110, section 10.2.3): a number of seconds, or a date.
enum RetryAfter {
    private static let longest = Duration.seconds(86_400)

    /// The time to wait, at most a day; nil for an invalid value and for a time in the past.
    static func wait(_ text: String, at now: Timestamp) -> Duration? {
        if let seconds = Int64(text) { return seconds < 0 ? nil : min(Duration.seconds(seconds), longest) }
        guard let time = time(text), time > now else { return nil }
        return min(time - now, longest)
    }

    /// Parses a date in the form that every sender must use, `IMF-fixdate`: `Sun, 06 Nov 1994 08:49:37 GMT`.
    private static func time(_ text: String) -> Timestamp? {
        let parts = text.split(separator: " ")
        guard parts.count == 6, parts[5] == "GMT", let index = MailDate.months.firstIndex(of: String(parts[2])) else {
            return nil
        }
        let month = index < 9 ? "0\(index + 1)" : "\(index + 1)"
        return Timestamp(rfc3339: "\(parts[3])-\(month)-\(parts[1])T\(parts[4])Z")
    }
}
