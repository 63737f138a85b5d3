// SPDX-License-Identifier: Apache-2.0

/// One complete request, as the record file keeps it; fields that a kind does not have are absent.
struct RecordedRequest: Encodable {
    /// What was to be sent.
    enum Kind: String, Encodable {
        case sms
        case email
        case push
    }

    let kind: Kind
    let provider: SandboxProvider
    /// RFC 3339, when the body was complete.
    let time: String
    /// The message's identity when it was taken, whether or not the client got to know it.
    let sid: String?
    /// The client's own name for the message: client reference, idempotency key, the `sendId` of Twilio's callback, the
    /// left part of an e-mail's `Message-ID`, or the `apns-id`.
    let reference: String?
    var accountSid: String?
    /// A phone number, addresses joined by commas, or a device token.
    let to: String
    let from: String
    var messagingServiceSid: String?
    /// An e-mail's text or HTML; a push's payload.
    let body: String
    var subject: String?
    /// As the provider's API counts it.
    var validityPeriod: String?
    var statusCallback: String?
    /// The client's port, which tells connections apart.
    let remotePort: Int?
    /// `accepted`, `repeated`, the name of the fault that happened, or `refused_` and the error's code.
    let outcome: String
    /// Whether the inbox shows a message for this request.
    let accepted: Bool
}
