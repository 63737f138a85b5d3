// SPDX-License-Identifier: Apache-2.0

/// One complete request in the record file; fields that do not apply to its kind are absent.
struct RecordedRequest: Encodable {
    enum Kind: String, Encodable {
        case sms
        case email
        case push
    }

    let kind: Kind
    let provider: SandboxProvider
    /// The time at which the body was complete, in RFC 3339.
    let time: String
    /// The id of an accepted message, whether or not the client has received it.
    let sid: String?
    /// The client's own id of the message.
    ///
    /// It is a client reference, an idempotency key, the `sendId` of Twilio's callback, the left part of an e-mail's
    /// `Message-ID`, or the `apns-id`.
    let reference: String?
    var accountSid: String?
    /// A phone number, addresses joined by commas, or a device token.
    let to: String
    let from: String
    var messagingServiceSid: String?
    /// The text of a message, an e-mail's text or HTML, or a push's payload.
    let body: String
    var subject: String?
    /// The validity in the unit of the provider's API.
    var validityPeriod: String?
    var statusCallback: String?
    /// The client's port, which identifies the connection.
    let remotePort: Int?
    /// `accepted`, `repeated`, the name of the fault that occurred, or `refused_` and the error's code.
    let outcome: String
    /// True when the inbox shows a message for this request.
    let accepted: Bool
}
