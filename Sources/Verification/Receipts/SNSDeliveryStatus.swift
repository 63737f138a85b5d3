// SPDX-License-Identifier: Apache-2.0

/// The delivery status log of Amazon SNS, its nested fields under names joined by points.
///
/// SNS gives neither our reference nor a code: the reason is told by the text of `delivery.providerResponse` alone,
/// which is compared and not kept.
enum SNSDeliveryStatus {
    /// `SUCCESS` may only mean that the carrier took the message: nothing later tells more.
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

    /// Reasons by the codes of AWS for a recipient's opt-out.
    static let codes: [String: UndeliveredReason] = [
        "OptedOut": .optedOut, "OptedOutException": .optedOut, "DESTINATION_PHONE_NUMBER_OPTED_OUT": .optedOut,
    ]

    static func read(_ parameters: [String: String]) -> ProviderStatement? {
        guard let messageID = parameters["notification.messageId"], let word = parameters["status"] else { return nil }
        return ProviderStatement(
            outcome: ProviderStatement.Outcome(word, in: outcomes),
            messageID: messageID,
            reason: parameters["delivery.providerResponse"].flatMap { reasons[$0.lowercased()] },
            occurredAt: time(parameters)
        )
    }

    /// The publication's time, and how long the message took from there.
    private static func time(_ parameters: [String: String]) -> Timestamp? {
        guard let text = parameters["notification.timestamp"] else { return nil }
        guard let published = Timestamp(providerTime: text) else { return nil }
        let dwell = parameters["delivery.dwellTimeMsUntilDeviceAck"] ?? parameters["delivery.dwellTimeMs"]
        // A message dwells for days at most; more is a mistake.
        guard let milliseconds = dwell.flatMap({ Int64($0) }), (0...604_800_000).contains(milliseconds) else {
            return published
        }
        return published + .milliseconds(milliseconds)
    }
}
