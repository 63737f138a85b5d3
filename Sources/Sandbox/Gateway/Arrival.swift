// SPDX-License-Identifier: Apache-2.0

import Formats

/// A complete request for a text message, not yet checked.
struct Arrival: Sendable {
    let provider: SandboxProvider
    let time = Timestamp.now
    let account: String
    /// The recipient in E.164 with `+`, whether or not the provider's API uses one, if it is a phone number.
    let to: String
    let from: String
    let messagingServiceSid: String?
    let body: String
    /// The validity in the unit of the provider's API.
    let validityPeriod: String?
    let statusCallback: String?
    /// The client's own id of the message.
    let reference: String?
    let idempotencyKey: String?
    /// True if the client may report later that the recipient used the message.
    let providesFeedback: Bool
    let remotePort: Int?

    init(
        provider: SandboxProvider,
        account: String,
        to: String,
        from: String,
        messagingServiceSid: String? = nil,
        body: String,
        validityPeriod: String? = nil,
        statusCallback: String? = nil,
        reference: String? = nil,
        idempotencyKey: String? = nil,
        providesFeedback: Bool = false,
        remotePort: Int?
    ) {
        self.provider = provider
        self.account = account
        self.to = to
        self.from = from
        self.messagingServiceSid = messagingServiceSid
        self.body = body
        self.validityPeriod = validityPeriod
        self.statusCallback = statusCallback
        self.reference = reference
        self.idempotencyKey = idempotencyKey
        self.providesFeedback = providesFeedback
        self.remotePort = remotePort
    }

    func recorded(sid: String?, outcome: String, isAccepted: Bool) -> RecordedRequest {
        RecordedRequest(
            kind: .sms,
            provider: provider,
            time: time.rfc3339,
            sid: sid,
            reference: reference,
            accountSid: account,
            to: to,
            from: from,
            messagingServiceSid: messagingServiceSid,
            body: body,
            validityPeriod: validityPeriod,
            statusCallback: statusCallback,
            remotePort: remotePort,
            outcome: outcome,
            accepted: isAccepted
        )
    }

    /// True when two requests are for the same message.
    func isRepeat(of other: Arrival) -> Bool {
        (to, from, body) == (other.to, other.from, other.body) && account == other.account
    }

    /// True for E.164: `+`, a digit above 0, 6 to 14 more digits.
    var hasPhoneNumber: Bool {
        let digits = to.utf8.dropFirst()
        return to.utf8.first == UInt8(ascii: "+") && (7...15).contains(digits.count)
            && digits.first != UInt8(ascii: "0")
            && digits.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
    }

    /// The number from an API that omits the `+`; a number sent with one gets a second and is invalid.
    static func number(withoutPlus digits: String) -> String {
        digits.isEmpty ? "" : "+\(digits)"
    }
}

/// Random ids in the formats of the providers.
enum Identifier {
    static func hexadecimal(_ count: Int) -> String {
        let digits = Array("0123456789abcdef")
        return String((0..<count).map { _ in digits[Int.random(in: 0..<16)] })
    }

    /// A UUID of version 4 (RFC 9562), in lower case.
    static func uuid() -> String {
        let variant = ["8", "9", "a", "b"].randomElement() ?? "8"
        return [hexadecimal(8), hexadecimal(4), "4" + hexadecimal(3), variant + hexadecimal(3), hexadecimal(12)]
            .joined(separator: "-")
    }

    static func isUUID(_ text: String) -> Bool {
        let parts = text.utf8.split(separator: UInt8(ascii: "-"), omittingEmptySubsequences: false)
        return parts.map(\.count) == [8, 4, 4, 4, 12]
            && parts.joined().allSatisfy { Character(Unicode.Scalar($0)).isHexDigit }
    }
}
