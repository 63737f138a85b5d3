// SPDX-License-Identifier: Apache-2.0

package import Formats

extension Receipt {
    /// Reads a record into a receipt, or into a reason to ignore or reject it.
    ///
    /// Total: every record gives exactly one of the three readings. A callback in a known provider's format takes
    /// precedence, since signatures cover it; otherwise the normalised fields are read. Ids may appear in both and must
    /// not contradict each other.
    package static func read(_ record: InboundRecord, secrets: ReceiptSecrets) -> ReceiptReading {
        do throws(DeadLetterReason) {
            let event = try CloudEvent.payload(of: record, expecting: .receipt)
            guard case .object(let object) = event.data else { throw .notAnObject }
            let record = try ReceiptRecord(object, secrets)
            guard secrets.accept(record) else { throw .badSignature }
            guard let statement = secrets.statement(record.parameters) else {
                return .receipt(try record.normalised(secrets))
            }
            switch statement.outcome {
            // The gateway's own fields win over a callback that only resembles another provider's, or has a new status.
            case .ignored(.unknownStatus) where record.isNormalised: return .receipt(try record.normalised(secrets))
            case .ignored(let reason): return .ignored(reason)
            case .status(let status): return .receipt(try record.receipt(statement, status))
            }
        } catch {
            return .deadLetter(error)
        }
    }
}

extension ReceiptRecord {
    /// True if the normalised fields give a status and identify a send.
    fileprivate var isNormalised: Bool {
        status != nil && (sendID != nil || callbackSendID != nil || providerMessageID != nil)
    }

    fileprivate func normalised(_ secrets: ReceiptSecrets) throws(DeadLetterReason) -> Receipt {
        guard let status else { throw .invalidReceipt }
        let isUndelivered = status == .undelivered
        return try receipt(
            sendID: merge(sendID, callbackSendID),
            messageID: providerMessageID,
            status: status,
            reason: isUndelivered ? errorCode.flatMap { secrets.reason(of: $0, by: provider) } : nil,
            errorCode: isUndelivered ? errorCode.flatMap(AnswerWord.errorCode) : nil,
            occurredAt: occurredAt
        )
    }

    /// The receipt made from the provider's own statement.
    fileprivate func receipt(
        _ statement: ProviderStatement,
        _ status: Receipt.Status
    ) throws(DeadLetterReason) -> Receipt {
        let isUndelivered = status == .undelivered
        return try receipt(
            sendID: merge(sendID, merge(callbackSendID, statement.sendID)),
            messageID: merge(providerMessageID, statement.messageID),
            status: status,
            reason: isUndelivered ? statement.reason : nil,
            errorCode: isUndelivered ? statement.errorCode : nil,
            occurredAt: statement.occurredAt ?? occurredAt
        )
    }

    private func receipt(
        sendID: SendID?,
        messageID: String?,
        status: Receipt.Status,
        reason: UndeliveredReason?,
        errorCode: String?,
        occurredAt: Timestamp?
    ) throws(DeadLetterReason) -> Receipt {
        guard sendID != nil || messageID != nil else { throw .invalidReceipt }
        return Receipt(
            provider: provider,
            sendID: sendID,
            providerMessageID: messageID,
            status: status,
            reason: reason,
            errorCode: errorCode,
            occurredAt: occurredAt
        )
    }

    /// The value that is present; two must be equal.
    private func merge<Value: Equatable>(_ first: Value?, _ second: Value?) throws(DeadLetterReason) -> Value? {
        guard let first else { return second }
        guard second == nil || second == first else { throw .invalidReceipt }
        return first
    }
}

/// A provider's report on a send after it took the message.
///
/// It carries neither number nor text. At least one of the two ids is present.
package struct Receipt: Sendable, Hashable, Redacted {
    /// The provider's name in the configuration.
    package let provider: String

    /// The reference that was passed to the provider.
    package let sendID: SendID?

    package let providerMessageID: String?

    package let status: Status

    /// The reason of a failed delivery, if the provider gives a known one.
    package let reason: UndeliveredReason?

    /// The provider's error code, never its text.
    package let errorCode: String?

    /// The time of the status, by the provider's clock.
    package let occurredAt: Timestamp?

    package init(
        provider: String,
        sendID: SendID?,
        providerMessageID: String?,
        status: Status,
        reason: UndeliveredReason? = nil,
        errorCode: String? = nil,
        occurredAt: Timestamp? = nil
    ) {
        self.provider = provider
        self.sendID = sendID
        self.providerMessageID = providerMessageID
        self.status = status
        self.reason = reason
        self.errorCode = errorCode
        self.occurredAt = occurredAt
    }

    package enum Status: String, Sendable, Hashable, CaseIterable {
        /// The message is in transit: queued, buffered, or with the carrier.
        case sent
        case delivered
        case undelivered
    }

    package var description: String {
        "receipt \(status.rawValue) of \(sendID?.description ?? "a send") by \(provider)"
    }
}

/// The `reason` of an `undelivered` event.
package enum UndeliveredReason: String, Sendable, Hashable, CaseIterable {
    /// The phone is off, out of reach, full or without credit, or its network does not respond.
    case unreachable

    /// The carrier filtered the message, or blocks every message to this phone or from this sender.
    case carrierBlocked = "carrier_blocked"

    /// The number cannot receive text messages.
    case landline

    /// The person opted out of messages, from us or from every sender.
    case optedOut = "opted_out"

    /// The number is not assigned.
    case unknownNumber = "unknown_number"

    /// The message's validity ended in transit.
    case expired

    /// The provider took the message and rejected it afterwards.
    case rejected
}

package enum ReceiptReading: Sendable, Hashable {
    case receipt(Receipt)

    /// A valid callback that does not report a send's outcome.
    case ignored(IgnoredReason)

    /// The record becomes a dead letter, with the reason.
    case deadLetter(DeadLetterReason)
}

/// The reason why a callback changes nothing.
package enum IgnoredReason: String, Sendable, Hashable, CaseIterable {
    /// The provider does not know the outcome of the message.
    case outcomeUnknown = "outcome_unknown"

    /// A status in none of the provider's lists, for example a newly added one.
    case unknownStatus = "unknown_status"

    /// The callback reports a received message, not a sent one.
    case inboundMessage = "inbound_message"
}
