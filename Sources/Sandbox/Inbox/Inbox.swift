// SPDX-License-Identifier: Apache-2.0

import Formats

/// The messages, e-mails and pushes that the sandbox accepted, with their statuses and receipts.
actor Inbox {
    /// The position of a reader of changes.
    ///
    /// The epoch changes when messages are cleared and is random at the start, so that a reader of an earlier state
    /// starts from the beginning.
    struct Cursor: Sendable, Hashable {
        var epoch: UInt32
        var revision: Int
    }

    struct Entry {
        var message: SandboxMessage
        let created: Int
        var revision: Int
        let arrival: Arrival
    }

    /// An entry that never changes after its acceptance.
    struct Item<Value: Sendable> {
        let value: Value
        let revision: Int
    }

    /// The result of claiming an idempotency key.
    enum Claim: Sendable {
        case new(sid: String)
        /// The key was used for the same message before.
        case repeated(Stored)
        /// The key was used for another message before.
        case conflict
    }

    /// A message with the time shown in the gateway's answers.
    typealias Stored = (message: SandboxMessage, acceptedAt: Timestamp)

    private let broadcast: Broadcast
    private(set) var entries: BoundedLog<Entry>
    private(set) var emailLog: BoundedLog<Item<SandboxEmail>>
    private(set) var pushLog: BoundedLog<Item<SandboxPush>>
    private(set) var deliveryLog: BoundedLog<Item<SandboxDelivery>>
    private(set) var numbers: [String: Int] = [:]
    private var keys: [String: (sid: String, arrival: Arrival)] = [:]
    private(set) var receiptLog: BoundedLog<SandboxReceipt>
    private var schedule: DeliverySchedule
    private(set) var cursor = Cursor(epoch: .random(in: 1 ... .max), revision: 0)

    /// The maximum number of stored e-mails, since each may be as large as a megabyte.
    private static let emailCapacity = 500

    init(configuration: SandboxConfiguration, broadcast: Broadcast) {
        self.broadcast = broadcast
        let capacity = configuration.maximumMessages
        entries = BoundedLog(capacity: capacity)
        emailLog = BoundedLog(capacity: min(capacity, Self.emailCapacity))
        pushLog = BoundedLog(capacity: capacity)
        deliveryLog = BoundedLog(capacity: capacity)
        receiptLog = BoundedLog(capacity: capacity * 4)
        schedule = DeliverySchedule(
            sentAfter: configuration.sentAfter,
            deliveredAfter: configuration.deliveredAfter,
            capacity: capacity * 4
        )
    }

    /// Claims a message's idempotency key for an id, and reports an earlier use of the key.
    func claim(_ sid: String, for arrival: Arrival) -> Claim {
        guard let key = arrival.idempotencyKey else { return .new(sid: sid) }
        guard let known = keys[key] else {
            keys[key] = (sid, arrival)
            return .new(sid: sid)
        }
        guard arrival.isRepeat(of: known.arrival) else { return .conflict }
        // The first message may not be in the inbox yet, while it is written to the record file.
        let first = message(sid: known.sid)
        return .repeated(first ?? (SandboxMessage(known.arrival, sid: known.sid, sequence: 0), known.arrival.time))
    }

    /// Releases the key of a message that was not accepted after all.
    func release(_ arrival: Arrival) {
        if let key = arrival.idempotencyKey { keys[key] = nil }
    }

    /// Stores an accepted message and schedules its receipts.
    func accept(_ arrival: Arrival, sid: String, receiptFault: Fault.Receipt?) -> Stored {
        let message = SandboxMessage(arrival, sid: sid, sequence: entries.nextNumber)
        cursor.revision += 1
        numbers[sid] = message.sequence
        let entry = Entry(message: message, created: cursor.revision, revision: cursor.revision, arrival: arrival)
        for dropped in entries.append(entry) {
            numbers[dropped.message.sid] = nil
            release(dropped.arrival)
        }
        schedule.plan(message: message.sequence, fault: receiptFault, at: .now)
        broadcast.signal()
        return (message, arrival.time)
    }

    /// Stores an e-mail; the closure creates it from its sequence number.
    func acceptEmail(_ email: (_ sequence: Int) -> SandboxEmail) {
        cursor.revision += 1
        _ = emailLog.append(Item(value: email(emailLog.nextNumber), revision: cursor.revision))
        broadcast.signal()
    }

    /// Stores a push; the closure creates it from its sequence number.
    func acceptPush(_ push: (_ sequence: Int) -> SandboxPush) {
        cursor.revision += 1
        _ = pushLog.append(Item(value: push(pushLog.nextNumber), revision: cursor.revision))
        broadcast.signal()
    }

    /// Stores a delivery event of the fleet.
    func acceptDelivery(_ delivery: SandboxDelivery) {
        cursor.revision += 1
        _ = deliveryLog.append(Item(value: delivery, revision: cursor.revision))
        broadcast.signal()
    }

    /// Applies the status changes that are due, and returns the receipts that they cause.
    func advance(to now: ContinuousClock.Instant) -> [SandboxReceipt] {
        var receipts: [SandboxReceipt] = []
        let before = cursor
        while let step = schedule.next(at: now) {
            guard var entry = entries[step.message] else { continue }
            if entry.message.status != step.status {
                cursor.revision += 1
                entry.revision = cursor.revision
                entry.message.status = step.status
                entry.message.errorCode = step.errorCode
                entries[step.message] = entry
            }
            // Amazon's log has only the last status.
            let isLogged = entry.message.provider != .sns || step.status != .sent
            if step.isReported, isLogged { receipts.append(report(step, of: entry.message)) }
        }
        if cursor != before { broadcast.signal() }
        return receipts
    }

    /// Marks a message as used by its recipient.
    func confirm(_ sid: String) {
        guard let number = numbers[sid], var entry = entries[number], !entry.message.confirmed else { return }
        cursor.revision += 1
        entry.revision = cursor.revision
        entry.message.confirmed = true
        entries[number] = entry
        broadcast.signal()
    }

    private func report(_ step: DeliverySchedule.Step, of message: SandboxMessage) -> SandboxReceipt {
        let receipt = SandboxReceipt(
            sequence: receiptLog.nextNumber,
            of: message,
            status: step.status,
            errorCode: step.errorCode
        )
        _ = receiptLog.append(receipt)
        return receipt
    }

    /// Removes every message, e-mail, push, receipt and delivery event, and all scheduled changes.
    func clear() {
        entries.removeAll()
        emailLog.removeAll()
        pushLog.removeAll()
        deliveryLog.removeAll()
        keys = [:]
        numbers = [:]
        receiptLog.removeAll()
        schedule.removeAll()
        cursor = Cursor(epoch: cursor.epoch &+ 1, revision: 0)
        broadcast.signal()
    }
}
