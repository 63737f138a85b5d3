// SPDX-License-Identifier: Apache-2.0

package import Formats

/// The content of a callback in a provider's own format.
package struct ProviderStatement {
    package enum Outcome: Sendable {
        case status(Receipt.Status)
        case ignored(IgnoredReason)
    }

    let outcome: Outcome
    let sendID: SendID?
    let messageID: String?
    let reason: UndeliveredReason?
    let errorCode: String?
    let occurredAt: Timestamp?

    /// Creates a statement from a provider's texts; an invalid id or code is left out.
    package init(
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

    /// True for a code, false for a sentence, which may hold a number.
    private static func isCode(_ text: String) -> Bool {
        text.isASCII(within: 1...8) { $0.isASCIILetterOrDigit || $0 == UInt8(ascii: "_") || $0 == UInt8(ascii: "-") }
    }
}

extension ProviderStatement.Outcome {
    /// The meaning of a provider's status, by the provider's list.
    package init(_ word: String, in list: [String: ProviderStatement.Outcome]) {
        self = list[word.lowercased()] ?? .ignored(.unknownStatus)
    }
}

extension Timestamp {
    /// Reads a provider's `2026-11-20 12:34:56[.789]`, which is in UTC.
    package init?(providerTime text: String) {
        let parts = text.split(separator: " ", omittingEmptySubsequences: false)
        guard parts.count == 2 else { return nil }
        self.init(rfc3339: "\(parts[0])T\(parts[1])Z")
    }
}

/// A message identified by its provider and the provider's id; ids of different providers may be equal.
package struct ProviderMessage: Sendable, Hashable {
    package let provider: String
    package let id: String

    package init(provider: String, id: String) {
        (self.provider, self.id) = (provider, id)
    }

    /// Nil unless both are known.
    init?(_ provider: String?, _ id: String?) {
        guard let provider, let id else { return nil }
        self.init(provider: provider, id: id)
    }
}

extension ReportedSend {
    /// The send's message at its provider, if known.
    var message: ProviderMessage? { ProviderMessage(provider, messageID) }
}

extension Receipt {
    package var message: ProviderMessage? { ProviderMessage(provider, providerMessageID) }
}
