// SPDX-License-Identifier: Apache-2.0

import Formats
import Verification

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
