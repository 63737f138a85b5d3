// SPDX-License-Identifier: Apache-2.0

package import Formats

/// A receipt to be matched with the send that it reports on.
package struct ReceivedReceipt: Sendable {
    /// The id derived from the record's place, so that a redelivered record is the same receipt.
    package let id: UUIDValue
    package let receipt: Receipt

    /// The original record, for the dead letters.
    package let record: InboundRecord

    /// The time of the first arrival; nil if it arrives now.
    package let receivedAt: Timestamp?

    /// The number of times its send was looked up.
    package let tries: Int16

    package init(id: UUIDValue, receipt: Receipt, record: InboundRecord, receivedAt: Timestamp?, tries: Int16) {
        self.id = id
        self.receipt = receipt
        self.record = record
        self.receivedAt = receivedAt
        self.tries = tries
    }

    package init(_ receipt: Receipt, in record: InboundRecord) {
        self.init(
            id: .digest(of: FieldJoiner(), and: record),
            receipt: receipt,
            record: record,
            receivedAt: nil,
            tries: 0
        )
    }
}

/// A send as stored when its receipt is processed.
package struct ReportedSend: Sendable {
    package enum State: String, Sendable {
        case pending
        case claimed
        case dispatching
        case sent
        case failed
        case unknown
        case delivered
        case undelivered
    }

    package let reference: SendReference
    package var state: State
    package var provider: String?
    package var messageID: String?
    package let segments: Int16?
    package let encoding: String?
    package var errorCode: String?

    /// The arrival time by the provider's clock, from the receipt that settled the send.
    package internal(set) var arrivedAt: Timestamp?

    package init(
        reference: SendReference,
        state: State,
        provider: String?,
        messageID: String?,
        segments: Int16?,
        encoding: String?,
        errorCode: String?
    ) {
        self.reference = reference
        self.state = state
        self.provider = provider
        self.messageID = messageID
        self.segments = segments
        self.encoding = encoding
        self.errorCode = errorCode
    }
}

/// Settles sends by their providers' receipts: a pure function.
///
/// A receipt settles a send that was handed over, or whose outcome is unknown; a settled send never changes again. A
/// receipt that arrives before its send's outcome is recorded waits for it, for a limited time.
package enum ReceiptDecision {
    package struct Changes: Sendable {
        package var sends: [SendID: ReportedSend] = [:]
        package var verifications: [VerificationID: StoredVerification] = [:]
        package var outbox: [OutboxRecord] = []

        /// The receipts to process again, each at its due time.
        package var waiting: [(receipt: ReceivedReceipt, due: Timestamp)] = []
    }

    /// Settles a batch in its order.
    ///
    /// `sends` are the locked sends that the receipts name by either id, `verifications` their verifications, and
    /// `held` the sends that another transaction locks; `now` is the database's time.
    package static func settle(
        _ receipts: [ReceivedReceipt],
        sends: [ReportedSend],
        held: [ReportedSend] = [],
        verifications: [VerificationID: StoredVerification],
        now: Timestamp,
        settings: WorkerSettings
    ) -> Changes {
        var desk = Desk(sends, held, verifications, now, settings)
        for receipt in receipts { desk.settle(receipt) }
        return desk.changes
    }

    private struct Desk {
        private var sends: [SendID: ReportedSend]
        private var messages: [ProviderMessage: SendID] = [:]
        private let held: Set<SendID>
        private var verifications: [VerificationID: StoredVerification]
        private let now: Timestamp
        private let settings: WorkerSettings
        private(set) var changes = Changes()

        init(
            _ sends: [ReportedSend],
            _ held: [ReportedSend],
            _ verifications: [VerificationID: StoredVerification],
            _ now: Timestamp,
            _ settings: WorkerSettings
        ) {
            self.sends = Dictionary(sends.map { ($0.reference.id, $0) }) { first, _ in first }
            self.held = Set(held.map(\.reference.id))
            for send in sends + held {
                if let message = send.message { messages[message] = send.reference.id }
            }
            self.verifications = verifications
            self.now = now
            self.settings = settings
        }

        mutating func settle(_ received: ReceivedReceipt) {
            let receipt = received.receipt
            guard let send = send(of: receipt) else {
                if isOfHeldSend(receipt) {
                    // The send exists but is locked: retry every second until the lock is released.
                    changes.waiting.append((received, now + .seconds(1)))
                } else {
                    wait(received)
                }
                return
            }
            switch send.state {
            case .pending, .claimed, .dispatching: wait(received)
            case .failed, .delivered, .undelivered: return
            case .sent where receipt.status == .sent: return
            case .sent, .unknown:
                if isOfMessage(receipt, send) { settle(send, by: receipt) }
            }
        }

        /// True if the receipt reports on the message that counts: a send may have been offered to several providers.
        private func isOfMessage(_ receipt: Receipt, _ send: ReportedSend) -> Bool {
            if let known = send.messageID, let named = receipt.providerMessageID { return known == named }
            guard let provider = send.provider, provider != receipt.provider else { return true }
            // A test number's message has no provider, so test receipts may name any.
            if verifications[send.reference.verificationID]?.isFictional == true { return true }
            // The taker is unknown: a provider that reports `undelivered` proves nothing about the others.
            return send.state == .unknown && receipt.status != .undelivered
        }

        private func send(of receipt: Receipt) -> ReportedSend? {
            let named = receipt.sendID.flatMap { sends[$0] }
            return named ?? receipt.message.flatMap { messages[$0] }.flatMap { sends[$0] }
        }

        private func isOfHeldSend(_ receipt: Receipt) -> Bool {
            let named = receipt.sendID.map(held.contains) ?? false
            return named || receipt.message.flatMap { messages[$0] }.map(held.contains) ?? false
        }

        private mutating func wait(_ received: ReceivedReceipt) {
            let left = settings.receiptGrace - (now - (received.receivedAt ?? now))
            guard left > .zero else {
                changes.outbox.append(.deadLetter(received.record, reason: .unknownReceipt, at: now))
                return
            }
            // Back off: a receipt that waits long usually belongs to no send of ours.
            let delay = Duration.seconds(1 << Int64(min(max(received.tries, 0), 9)))
            changes.waiting.append((received, now + min(delay, left)))
        }

        private mutating func settle(_ old: ReportedSend, by receipt: Receipt) {
            var send = old
            send.state = receipt.status.sendState
            // The receipt identifies the provider that took the message.
            if old.state == .unknown || send.provider == nil { send.provider = receipt.provider }
            send.messageID = send.messageID ?? receipt.providerMessageID
            send.errorCode = receipt.errorCode
            send.arrivedAt = receipt.occurredAt
            if let message = send.message { messages[message] = send.reference.id }
            sends[send.reference.id] = send
            changes.sends[send.reference.id] = send
            guard var verification = verifications[send.reference.verificationID] else { return }
            verification.sequence += 1
            verification.note(receipt.status.deliveryStatus, receipt.reason?.rawValue)
            if let provider = send.provider, !verification.usedProviders.contains(provider) {
                verification.usedProviders.append(provider)
            }
            if receipt.status == .undelivered, receipt.reason == .optedOut { verification.optedOutAt = send.provider }
            verifications[verification.id] = verification
            changes.verifications[verification.id] = verification
            let source = EventSource(settings.source, at: now)
            changes.outbox.append(event(send, verification, receipt).record(source: source))
        }

        private func event(
            _ send: ReportedSend,
            _ verification: StoredVerification,
            _ receipt: Receipt
        ) -> DeliveryEvent {
            DeliveryEvent(
                of: verification,
                requestID: send.reference.requestID,
                subject: verification.subject,
                status: receipt.status.deliveryStatus,
                reason: receipt.reason.map { .undelivered($0) },
                rule: "receipt",
                send: DeliveryEvent.Send(
                    id: send.reference.id,
                    number: send.reference.number,
                    max: verification.maxSends,
                    provider: send.provider,
                    providerMessageID: send.messageID,
                    segments: send.segments.map(Int.init),
                    encoding: send.encoding,
                    errorCode: send.errorCode
                ),
                trace: send.reference.trace,
                policyVersion: verification.policyVersion,
                occurredAt: now
            )
        }
    }
}

extension Receipt.Status {
    fileprivate var sendState: ReportedSend.State {
        switch self {
        case .sent: .sent
        case .delivered: .delivered
        case .undelivered: .undelivered
        }
    }

    fileprivate var deliveryStatus: DeliveryStatus {
        switch self {
        case .sent: .sent
        case .delivered: .delivered
        case .undelivered: .undelivered
        }
    }
}
