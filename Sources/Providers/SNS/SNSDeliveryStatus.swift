// SPDX-License-Identifier: Apache-2.0

import Formats
import Verification

/// The delivery status log of Amazon SNS, its nested fields under dotted paths.
///
/// SNS gives neither our reference nor a code: the only reason is the text of `delivery.providerResponse`, which is
/// matched and not stored.
enum SNSDeliveryStatus {
    static let format = ReceiptFormat(read: read, reason: { reasons[$0.lowercased()] ?? codes[$0] })

    /// The statuses; `SUCCESS` may only mean that the carrier accepted the message, but no later status follows.
    static let outcomes: [String: ProviderStatement.Outcome] = [
        "success": .status(.delivered),
        "failure": .status(.undelivered),
    ]

    /// Reasons by text in lower case (Amazon SNS, "SMS delivery failure reasons").
    static let reasons: [String: UndeliveredReason] = [
        "blocked as spam by phone carrier": .carrierBlocked,
        "destination is blacklisted": .carrierBlocked,
        "destination is on a blocked list": .carrierBlocked,
        "invalid phone number": .unknownNumber,
        "message body is invalid": .rejected,
        "phone carrier has blocked this message": .carrierBlocked,
        "phone carrier is currently unreachable/unavailable": .unreachable,
        "phone has blocked sms": .optedOut,
        "phone is blacklisted": .carrierBlocked,
        "phone is on a blocked list": .carrierBlocked,
        "phone is currently unreachable/unavailable": .unreachable,
        "phone number is opted out": .optedOut,
        "this delivery would exceed max price": .rejected,
    ]

    /// Reasons by AWS's codes for an opt-out.
    static let codes: [String: UndeliveredReason] = [
        "OptedOut": .optedOut, "OptedOutException": .optedOut, "DESTINATION_PHONE_NUMBER_OPTED_OUT": .optedOut,
    ]

    private static func read(_ parameters: [String: String]) -> ProviderStatement? {
        guard let messageID = parameters["notification.messageId"], let word = parameters["status"] else { return nil }
        return ProviderStatement(
            outcome: ProviderStatement.Outcome(word, in: outcomes),
            messageID: messageID,
            reason: parameters["delivery.providerResponse"].flatMap { reasons[$0.lowercased()] },
            occurredAt: time(parameters)
        )
    }

    /// The time of publication plus the time until delivery.
    private static func time(_ parameters: [String: String]) -> Timestamp? {
        guard let text = parameters["notification.timestamp"] else { return nil }
        guard let published = Timestamp(providerTime: text) else { return nil }
        let dwell = parameters["delivery.dwellTimeMsUntilDeviceAck"] ?? parameters["delivery.dwellTimeMs"]
        // A message is in transit for days at most; a larger value is an error.
        guard let milliseconds = dwell.flatMap({ Int64($0) }), (0...604_800_000).contains(milliseconds) else {
            return published
        }
        return published + .milliseconds(milliseconds)
    }
}
