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

/// The message status webhook of Vonage's Messages API, its nested fields under dotted paths.
enum VonageMessageStatus {
    /// The statuses of a message (Vonage, "Messages API status callbacks").
    static let outcomes: [String: ProviderStatement.Outcome] = [
        "submitted": .status(.sent),
        "delivered": .status(.delivered),
        "read": .status(.delivered),
        "rejected": .status(.undelivered),
        "undeliverable": .status(.undelivered),
    ]

    /// Reasons by error number (Vonage, "Messages API errors").
    static let reasons: [String: UndeliveredReason] = [
        "1050": .carrierBlocked,  // number barred
        "1170": .unknownNumber,  // invalid number
        "1180": .unreachable,  // absent for the time being
        "1190": .unknownNumber,  // absent for good
        "1200": .unreachable,  // portability error
        "1210": .carrierBlocked,  // anti-spam rejection
        "1220": .unreachable,  // handset busy
        "1230": .unreachable,  // network error
        "1240": .optedOut,  // illegal number: the person sent STOP
        "1250": .unreachable,  // unroutable
        "1260": .unreachable,  // destination unreachable
        "1270": .carrierBlocked,  // age restriction
        "1280": .carrierBlocked,  // number blocked by the carrier
        "1290": .unreachable,  // no credit to receive with
        "1300": .unknownNumber,  // not of the provider's network
        "1310": .unreachable,  // no suitable device
        "1360": .expired,  // time to live ran out
    ]

    static func read(_ parameters: [String: String]) -> ProviderStatement? {
        guard let messageID = parameters["message_uuid"], let word = parameters["status"] else { return nil }
        let errorCode = errorCode(parameters)
        return ProviderStatement(
            outcome: ProviderStatement.Outcome(word, in: outcomes),
            sendID: parameters["client_ref"],
            messageID: messageID,
            reason: errorCode.flatMap { reasons[$0] },
            errorCode: errorCode,
            occurredAt: parameters["timestamp"].flatMap { Timestamp(serialized: $0) }
        )
    }

    /// The error's number: its title, or the fragment of its type's URL; descriptions are left out.
    private static func errorCode(_ parameters: [String: String]) -> String? {
        let fragment = parameters["error.type"].flatMap { type in
            type.split(separator: "#", maxSplits: 1).dropFirst().first.map { String($0) }
        }
        let candidates = [parameters["error.title"], fragment, parameters["error.code"], parameters["error"]]
        return candidates.compactMap { $0 }.first { $0.isASCII(within: 1...6, where: \.isASCIIDigit) }
    }
}
