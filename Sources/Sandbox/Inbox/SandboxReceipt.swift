// SPDX-License-Identifier: Apache-2.0

import Formats

/// A provider's delivery receipt for a message.
package struct SandboxReceipt: Sendable, Hashable, Codable {
    /// The number in the order in which receipts became due, from 1.
    package let sequence: Int
    package let provider: SandboxProvider
    /// In RFC 3339.
    package let at: String
    /// The URL to which the provider would post the parameters.
    package let statusCallback: String?
    /// The parameters of the provider's callback; the names of nested members are joined by dots.
    package let parameters: [String: String]

    /// Creates the receipt for a message's new status.
    init(sequence: Int, of message: SandboxMessage, status: SandboxMessage.Status, errorCode: Int?) {
        let time = Timestamp.now
        self.sequence = sequence
        provider = message.provider
        at = time.rfc3339
        statusCallback = message.statusCallback
        parameters =
            switch message.provider {
            case .vonage: Self.vonage(message, status, errorCode, time)
            case .vonageMessages: Self.vonageMessages(message, status, errorCode, time)
            case .sns: Self.sns(message, status, errorCode, time)
            case .http: Self.generic(message, status, errorCode)
            case .twilio, .smtp, .apns: Self.twilio(message, status, errorCode)
            }
    }
}

extension SandboxReceipt {
    private static func twilio(
        _ message: SandboxMessage,
        _ status: SandboxMessage.Status,
        _ errorCode: Int?
    ) -> [String: String] {
        var parameters = [
            "MessageSid": message.sid, "SmsSid": message.sid, "MessageStatus": status.rawValue,
            "SmsStatus": status.rawValue, "To": message.to, "From": message.from,
            "AccountSid": message.accountSid, "ApiVersion": TwilioGateway.version,
        ]
        parameters["ErrorCode"] = errorCode.map { String($0) }
        parameters["MessagingServiceSid"] = message.messagingServiceSid
        return parameters
    }

    /// A delivery receipt of the SMS API (developer.vonage.com, "Delivery receipts").
    ///
    /// Its error codes end at 99; any other scripted code becomes 2, absent subscriber.
    private static func vonage(
        _ message: SandboxMessage,
        _ status: SandboxMessage.Status,
        _ errorCode: Int?,
        _ time: Timestamp
    ) -> [String: String] {
        let words: [SandboxMessage.Status: String] = [.delivered: "delivered", .undelivered: "failed"]
        var parameters = [
            "msisdn": String(message.to.dropFirst()), "to": message.from, "network-code": "12345",
            "messageId": message.sid, "price": "0.03330000", "status": words[status] ?? "accepted",
            "scts": time.shortDate, "err-code": errorCode.map { (0...99).contains($0) ? String($0) : "2" } ?? "0",
            "api-key": message.accountSid, "message-timestamp": time.databaseDate,
        ]
        parameters["client-ref"] = message.reference
        return parameters
    }

    /// A status callback of the Messages API (developer.vonage.com, "Messages API status callbacks").
    ///
    /// Its error codes have four digits from 1000 on; any other scripted code becomes 1180, absent subscriber.
    private static func vonageMessages(
        _ message: SandboxMessage,
        _ status: SandboxMessage.Status,
        _ errorCode: Int?,
        _ time: Timestamp
    ) -> [String: String] {
        let words: [SandboxMessage.Status: String] = [.delivered: "delivered", .undelivered: "rejected"]
        var parameters = [
            "message_uuid": message.sid, "to": String(message.to.dropFirst()), "from": message.from,
            "timestamp": time.rfc3339, "channel": "sms", "status": words[status] ?? "submitted",
            "destination.network_code": "12345", "sms.count_total": String(message.segments),
        ]
        parameters["client_ref"] = message.reference
        if let errorCode {
            let code = (1000...1999).contains(errorCode) ? errorCode : 1180
            parameters["error.type"] = "https://developer.vonage.com/api-errors/messages#\(code)"
            parameters["error.title"] = String(code)
            parameters["error.detail"] = "Scripted error"
            parameters["error.instance"] = message.sid
        }
        return parameters
    }

    /// An entry of the delivery status log (docs.aws.amazon.com, "Viewing Amazon SNS delivery logs"); SNS calls nobody.
    private static func sns(
        _ message: SandboxMessage,
        _ status: SandboxMessage.Status,
        _ errorCode: Int?,
        _ time: Timestamp
    ) -> [String: String] {
        let failures = [
            30003: "Phone is currently unreachable/unavailable", 30005: "Invalid phone number",
            30007: "Blocked as spam by phone carrier",
        ]
        let failure = failures[errorCode ?? 0] ?? "Unknown error attempting to reach phone"
        let isDelivered = status != .undelivered
        return [
            "notification.messageId": message.sid, "notification.timestamp": time.databaseDate,
            "delivery.destination": message.to, "delivery.dwellTimeMs": "500",
            "delivery.providerResponse": isDelivered ? "Message has been accepted by phone carrier" : failure,
            "status": isDelivered ? "SUCCESS" : "FAILURE",
        ]
    }

    private static func generic(
        _ message: SandboxMessage,
        _ status: SandboxMessage.Status,
        _ errorCode: Int?
    ) -> [String: String] {
        var parameters = ["id": message.sid, "status": status.rawValue]
        parameters["reference"] = message.reference
        parameters["errorCode"] = errorCode.map { String($0) }
        return parameters
    }
}
