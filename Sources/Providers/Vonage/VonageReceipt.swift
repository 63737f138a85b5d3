// SPDX-License-Identifier: Apache-2.0

import Formats
import Verification

/// The delivery receipt of Vonage's SMS API.
enum VonageReceipt {
    /// The statuses of a receipt (Vonage, "Delivery receipts").
    static let outcomes: [String: ProviderStatement.Outcome] = [
        "accepted": .status(.sent),
        "buffered": .status(.sent),
        "delivered": .status(.delivered),
        "expired": .status(.undelivered),
        "failed": .status(.undelivered),
        "rejected": .status(.undelivered),
        "deleted": .status(.undelivered),
        "unknown": .ignored(.outcomeUnknown),
    ]

    /// Reasons by `err-code` (Vonage, "DLR error codes"); 0 is success, 1 and 99 give none.
    static let reasons: [String: UndeliveredReason] = [
        "2": .unreachable,  // absent for the time being
        "3": .unknownNumber,  // absent for good: the number is no longer active
        "4": .optedOut,  // barred by the user
        "5": .unreachable,  // portability error
        "6": .carrierBlocked,  // anti-spam rejection
        "7": .unreachable,  // handset busy
        "8": .unreachable,  // network error
        "9": .optedOut,  // illegal number: the person sent STOP
        "10": .rejected,  // illegal message
        "11": .unreachable,  // unroutable
        "12": .unreachable,  // destination unreachable
        "13": .carrierBlocked,  // age restriction
        "14": .carrierBlocked,  // number blocked by the carrier
        "15": .unreachable,  // no credit to receive with
        "16": .rejected,  // gateway quota
        "50": .carrierBlocked,  // entity filter
        "51": .carrierBlocked,  // header filter
        "52": .carrierBlocked,  // content filter
        "53": .optedOut,  // consent filter
        "54": .carrierBlocked,  // regulation
    ]

    static func read(_ parameters: [String: String]) -> ProviderStatement? {
        guard let messageID = parameters["messageId"], let word = parameters["status"] else { return nil }
        let errorCode = parameters["err-code"].flatMap { $0 == "0" ? nil : $0 }
        let isExpired = word.lowercased() == "expired"
        return ProviderStatement(
            outcome: ProviderStatement.Outcome(word, in: outcomes),
            sendID: parameters["client-ref"],
            messageID: messageID,
            reason: errorCode.flatMap { reasons[$0] } ?? (isExpired ? .expired : nil),
            errorCode: errorCode,
            occurredAt: parameters["message-timestamp"].flatMap { Timestamp(providerTime: $0) }
                ?? parameters["scts"].flatMap(time)
        )
    }

    /// A time of the form `yyMMddHHmm`, in UTC.
    private static func time(_ text: String) -> Timestamp? {
        guard text.utf8.count == 10 else { return nil }
        let pairs = stride(from: 0, to: 10, by: 2).map { start in text.dropFirst(start).prefix(2) }
        return Timestamp(rfc3339: "20\(pairs[0])-\(pairs[1])-\(pairs[2])T\(pairs[3]):\(pairs[4]):00Z")
    }
}
