// SPDX-License-Identifier: Apache-2.0

import Formats

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
