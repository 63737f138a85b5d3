// SPDX-License-Identifier: Apache-2.0

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
    package let encoding: MessageSegments.Encoding
    /// In RFC 3339.
    package let receivedAt: String
    /// The code found in the body.
    package let code: String?
    package internal(set) var status: Status
    /// The provider's error code of an undelivered message.
    package internal(set) var errorCode: Int?
    /// The validity in the unit of the provider's API: seconds, or milliseconds for Vonage's SMS API.
    package let validityPeriod: Int?
    package let statusCallback: String?
    /// The client's own id of the message.
    package let reference: String?

    /// Creates a message from an accepted request.
    init(_ arrival: Arrival, sid: String, sequence: Int) {
        let segments = MessageSegments(of: arrival.body)
        self.sequence = sequence
        self.sid = sid
        provider = arrival.provider
        accountSid = arrival.account
        to = arrival.to
        from = arrival.from
        messagingServiceSid = arrival.messagingServiceSid
        body = arrival.body
        self.segments = segments.count
        encoding = segments.encoding
        receivedAt = arrival.time.internetDate
        code = CodeFinder.code(in: arrival.body)
        status = .queued
        validityPeriod = arrival.validityPeriod.flatMap { Int($0) }
        statusCallback = arrival.statusCallback
        reference = arrival.reference
    }
}
