// SPDX-License-Identifier: Apache-2.0

package import Formats

/// A text message that the sandbox accepted, as a phone would show it.
package struct SandboxMessage: Sendable, Hashable, Codable {
    /// The delivery status of a message.
    package enum Status: String, Sendable, Hashable, Codable {
        case queued
        case sent
        case delivered
        case undelivered
    }

    /// The number in the order of acceptance, from 1.
    package let sequence: Int
    package let provider: SandboxProvider
    package let sid: String
    package let accountSid: String
    package let to: String
    /// The sender; empty when a messaging service selects it.
    package let from: String
    package let messagingServiceSid: String?
    package let body: String
    package let segments: Int
    package let encoding: TextEncoding.Alphabet
    /// In RFC 3339.
    package let receivedAt: String
    /// The code found in the body.
    package let code: String?
    package internal(set) var status: Status
    /// The provider's error code of an undelivered message.
    package internal(set) var errorCode: Int?
    /// True once the client has reported that the recipient used the message.
    package internal(set) var confirmed = false
    /// The validity in the unit of the provider's API: seconds, or milliseconds for Vonage's SMS API.
    package let validityPeriod: Int?
    package let statusCallback: String?
    /// The client's own id of the message.
    package let reference: String?

    /// True if the client may report that the recipient used the message.
    package let providesFeedback: Bool

    /// Creates a message from an accepted request.
    init(_ arrival: Arrival, sid: String, sequence: Int) {
        let size = TextEncoding(arrival.body)
        self.sequence = sequence
        self.sid = sid
        provider = arrival.provider
        accountSid = arrival.account
        to = arrival.to
        from = arrival.from
        messagingServiceSid = arrival.messagingServiceSid
        body = arrival.body
        segments = size.segments
        encoding = size.alphabet
        receivedAt = arrival.time.rfc3339
        code = CodeFinder.code(in: arrival.body)
        status = .queued
        validityPeriod = arrival.validityPeriod.flatMap { Int($0) }
        statusCallback = arrival.statusCallback
        reference = arrival.reference
        providesFeedback = arrival.providesFeedback
    }
}

/// An e-mail that the sandbox accepted.
package struct SandboxEmail: Sendable, Hashable, Codable {
    /// The number in the order of acceptance, from 1.
    package let sequence: Int
    package let sid: String
    /// The `Message-ID` without its angle brackets.
    package let messageID: String?
    package let subject: String
    /// The decoded `From` header, or the envelope's sender without one.
    package let from: String
    /// The recipients of the envelope.
    package let to: [String]
    package let text: String?
    package let html: String?
    /// The web addresses in the text and the HTML, without duplicates.
    package let links: [String]
    /// The code found in the text, or else in the HTML.
    package let code: String?
    /// In RFC 3339.
    package let receivedAt: String
    /// The size of the whole mail in bytes.
    package let size: Int
}

/// A silent push that the sandbox accepted.
package struct SandboxPush: Sendable, Hashable, Codable {
    /// The number in the order of acceptance, from 1.
    package let sequence: Int
    /// The `apns-id`.
    package let sid: String
    package let token: String
    /// The bundle identifier of the app.
    package let topic: String
    package let pushType: String
    package let priority: Int?
    /// The receipt and secret for app verification.
    package let receipt: String?
    package let secret: String?
    /// The body as received.
    package let payload: String
    /// In RFC 3339.
    package let receivedAt: String
}

/// The API by which a message arrived.
package enum SandboxProvider: String, Sendable, Hashable, Codable, CaseIterable {
    case twilio
    /// Vonage's SMS API.
    case vonage
    /// Vonage's Messages API.
    case vonageMessages = "vonage_messages"
    case sns
    /// A gateway that takes JSON and an `Idempotency-Key`.
    case http
    case smtp
    case apns
}

/// Finds the code in a message's text.
enum CodeFinder {
    /// The code of a last line `@domain #code`, else the first run of exactly six ASCII digits.
    static func code(in body: String) -> String? {
        boundCode(in: body) ?? digitRuns(in: body).first { $0.count == 6 }
    }

    private static func boundCode(in body: String) -> String? {
        guard let line = body.split(whereSeparator: \.isNewline).last, line.hasPrefix("@") else { return nil }
        let parts = line.split(separator: " ")
        guard parts.count >= 2, parts[1].hasPrefix("#") else { return nil }
        let code = parts[1].dropFirst()
        let isCode = (4...10).contains(code.count) && code.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber) }
        return isCode ? String(code) : nil
    }

    private static func digitRuns(in body: String) -> [String] {
        body.utf8.split { !(UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
            .map { String(decoding: $0, as: UTF8.self) }
    }
}
