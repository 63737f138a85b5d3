// SPDX-License-Identifier: Apache-2.0

import Verification

/// Twilio's status callback of Programmable Messaging.
enum TwilioCallback {
    static let format = ReceiptFormat(read: read, reason: { reasons[$0] })

    /// Outcomes by the status of a message (Twilio, "Message resource", `status`).
    static let outcomes: [String: ProviderStatement.Outcome] = [
        "accepted": .status(.sent),
        "scheduled": .status(.sent),
        "queued": .status(.sent),
        "sending": .status(.sent),
        "sent": .status(.sent),
        "delivered": .status(.delivered),
        "read": .status(.delivered),
        "undelivered": .status(.undelivered),
        "failed": .status(.undelivered),
        "canceled": .status(.undelivered),
        "receiving": .ignored(.inboundMessage),
        "received": .ignored(.inboundMessage),
    ]

    /// Reasons by `ErrorCode` (Twilio, "Error and warning dictionary"); 30008 and others give none.
    static let reasons: [String: UndeliveredReason] = [
        "21211": .unknownNumber,  // invalid To
        "21408": .rejected,  // no permission for the region
        "21610": .optedOut,  // the recipient sent STOP
        "21614": .landline,  // To is no mobile number
        "21635": .landline,  // To is a landline
        "30001": .rejected,  // queue overflow
        "30002": .rejected,  // account suspended
        "30003": .unreachable,  // unreachable handset
        "30004": .carrierBlocked,  // message blocked
        "30005": .unknownNumber,  // unknown handset
        "30006": .landline,  // landline or unreachable carrier
        "30007": .carrierBlocked,  // filtered
        "30010": .rejected,  // price above the maximum
        "30017": .unreachable,  // carrier's network is congested
        "30022": .carrierBlocked,  // US A2P 10DLC: rate limit
        "30023": .carrierBlocked,  // US A2P 10DLC: daily cap
        "30032": .carrierBlocked,  // toll-free number is not verified
        "30034": .carrierBlocked,  // US A2P 10DLC: unregistered number
        "30036": .expired,  // validity period ran out
        "30038": .carrierBlocked,  // one-time passcode filtered
        "30450": .rejected,  // SMS pumping protection
        "30453": .rejected,  // SMS pumping protection, for hours
    ]

    private static func read(_ parameters: [String: String]) -> ProviderStatement? {
        guard let messageID = parameters["MessageSid"] ?? parameters["SmsSid"] else { return nil }
        guard let word = parameters["MessageStatus"] ?? parameters["SmsStatus"] else { return nil }
        let errorCode = parameters["ErrorCode"].flatMap { $0 == "0" ? nil : $0 }
        return ProviderStatement(
            outcome: ProviderStatement.Outcome(word, in: outcomes),
            sendID: parameters["sendId"],
            messageID: messageID,
            reason: errorCode.flatMap { reasons[$0] },
            errorCode: errorCode
        )
    }
}
