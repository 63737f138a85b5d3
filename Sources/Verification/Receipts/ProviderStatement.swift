// SPDX-License-Identifier: Apache-2.0

/// What a callback in a provider's own shape says.
struct ProviderStatement {
    enum Outcome {
        case status(Receipt.Status)
        case ignored(IgnoredReason)
    }

    let outcome: Outcome
    let sendID: SendID?
    let messageID: String?
    let reason: UndeliveredReason?
    let errorCode: String?
    let occurredAt: Timestamp?

    /// The statement in the first shape that the parameters have; nil when they have none.
    ///
    /// The shape is seen from the names, not from the provider's kind: each has a name that no other has.
    init?(_ parameters: [String: String]) {
        guard !parameters.isEmpty else { return nil }
        let readers = [TwilioCallback.read, VonageReceipt.read, VonageMessageStatus.read, SNSDeliveryStatus.read]
        for read in readers {
            guard let statement = read(parameters) else { continue }
            self = statement
            return
        }
        return nil
    }

    /// A statement from texts as the provider gives them; an id or a code that cannot be one is left out.
    init(
        outcome: Outcome,
        sendID: String? = nil,
        messageID: String?,
        reason: UndeliveredReason? = nil,
        errorCode: String? = nil,
        occurredAt: Timestamp? = nil
    ) {
        self.outcome = outcome
        self.sendID = sendID.flatMap { UUIDValue($0) }.map { SendID($0) }
        self.messageID = messageID.flatMap(AnswerWord.messageID)
        self.reason = reason
        self.errorCode = errorCode.flatMap { Self.isCode($0) ? $0 : nil }
        self.occurredAt = occurredAt
    }

    /// Whether a text is a code, and no sentence that may hold a number.
    private static func isCode(_ text: String) -> Bool {
        text.isASCII(within: 1...8) { $0.isASCIILetterOrDigit || $0 == UInt8(ascii: "_") || $0 == UInt8(ascii: "-") }
    }
}

extension ProviderStatement.Outcome {
    /// What a provider's word for a status means, by its list.
    init(_ word: String, in list: [String: ProviderStatement.Outcome]) {
        self = list[word.lowercased()] ?? .ignored(.unknownStatus)
    }
}

extension Timestamp {
    /// Reads a provider's `2026-11-20 12:34:56[.789]`, which is in UTC.
    init?(providerTime text: String) {
        let parts = text.split(separator: " ", omittingEmptySubsequences: false)
        guard parts.count == 2 else { return nil }
        self.init(rfc3339: "\(parts[0])T\(parts[1])Z")
    }
}
