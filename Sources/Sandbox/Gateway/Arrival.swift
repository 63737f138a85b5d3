// SPDX-License-Identifier: Apache-2.0

/// A complete request for a message, not yet judged.
struct Arrival: Sendable {
    let time = WallTime.now()
    let account: String
    let to: String
    let from: String
    let messagingServiceSid: String?
    let body: String
    let validityPeriod: String?
    let statusCallback: String?
    let remotePort: Int?

    init(account: String, parameters: FormParameters, remotePort: Int?) {
        self.account = account
        to = parameters["To"] ?? ""
        from = parameters["From"] ?? ""
        messagingServiceSid = parameters["MessagingServiceSid"]
        body = parameters["Body"] ?? ""
        validityPeriod = parameters["ValidityPeriod"]
        statusCallback = parameters["StatusCallback"]
        self.remotePort = remotePort
    }

    /// What Twilio would say against the message.
    var fault: TwilioError? {
        if to.isEmpty { return .noRecipient }
        if !Self.isPhoneNumber(to) { return .invalidRecipient }
        if from.isEmpty, messagingServiceSid == nil { return .noSender }
        if body.isEmpty { return .noBody }
        return body.unicodeScalars.count > 1600 ? .longBody : nil
    }

    var submission: Submission {
        Submission(
            accountSid: account,
            to: to,
            from: from,
            messagingServiceSid: messagingServiceSid,
            body: body,
            validityPeriod: validityPeriod.flatMap { Int($0) },
            statusCallback: statusCallback
        )
    }

    func recorded(sid: String?, outcome: String) -> RecordedRequest {
        RecordedRequest(
            time: time.internetDate,
            sid: sid,
            accountSid: account,
            to: to,
            from: from,
            messagingServiceSid: messagingServiceSid,
            body: body,
            validityPeriod: validityPeriod,
            statusCallback: statusCallback,
            remotePort: remotePort,
            outcome: outcome,
            accepted: sid != nil
        )
    }

    /// E.164: `+`, a digit above 0, 6 to 14 more digits.
    private static func isPhoneNumber(_ text: String) -> Bool {
        let digits = text.utf8.dropFirst()
        return text.utf8.first == UInt8(ascii: "+") && (7...15).contains(digits.count)
            && digits.first != UInt8(ascii: "0")
            && digits.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
    }
}
