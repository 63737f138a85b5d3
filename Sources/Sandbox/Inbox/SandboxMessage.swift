// SPDX-License-Identifier: Apache-2.0

/// A message that the sandbox took, as a phone would show it.
package struct SandboxMessage: Sendable, Hashable, Codable {
    /// How far a message has come.
    package enum Status: String, Sendable, Hashable, Codable {
        case queued
        case sent
        case delivered
        case undelivered
    }

    /// 1, 2, … in the order of acceptance.
    package let sequence: Int
    package let sid: String
    package let accountSid: String
    package let to: String
    /// The sender; empty when a messaging service chooses it.
    package let from: String
    package let messagingServiceSid: String?
    package let body: String
    package let segments: Int
    package let encoding: MessageSegments.Encoding
    /// RFC 3339.
    package let receivedAt: String
    /// The code found in the body.
    package let code: String?
    package internal(set) var status: Status
    /// The provider's error code when undelivered.
    package internal(set) var errorCode: Int?
    /// Seconds.
    package let validityPeriod: Int?
    package let statusCallback: String?
}

/// What a provider says later of a message.
package struct SandboxReceipt: Sendable, Hashable, Codable {
    /// 1, 2, … in the order in which receipts became due.
    package let sequence: Int
    /// RFC 3339.
    package let at: String
    /// Where Twilio would post the parameters.
    package let statusCallback: String?
    /// The form parameters of Twilio's callback.
    package let parameters: [String: String]
}

/// What a client asks to be sent.
struct Submission: Sendable {
    let accountSid: String
    let to: String
    let from: String
    let messagingServiceSid: String?
    let body: String
    let validityPeriod: Int?
    let statusCallback: String?
}
