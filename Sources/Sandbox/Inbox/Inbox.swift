// SPDX-License-Identifier: Apache-2.0

/// The messages that the sandbox took, and what became of them.
actor Inbox {
    /// How far a reader of changes has come.
    ///
    /// The epoch changes when messages are cleared and is random at the start, so that a reader which knew another state
    /// starts afresh.
    struct Cursor: Sendable, Hashable {
        var epoch: UInt32
        var revision: Int
    }

    /// A message that is new or has changed since a cursor.
    struct Change: Sendable {
        let message: SandboxMessage
        let isNew: Bool
        let cursor: Cursor
    }

    private struct Entry {
        var message: SandboxMessage
        let created: Int
        var revision: Int
        let acceptedAt: WallTime
    }

    /// A message with the time that the gateway's answers show.
    typealias Stored = (message: SandboxMessage, acceptedAt: WallTime)

    private let broadcast: Broadcast
    private var entries: BoundedLog<Entry>
    private var numbers: [String: Int] = [:]
    private var receiptLog: BoundedLog<SandboxReceipt>
    private var schedule: DeliverySchedule
    private var cursor = Cursor(epoch: .random(in: 1 ... .max), revision: 0)

    init(configuration: SandboxConfiguration, broadcast: Broadcast) {
        self.broadcast = broadcast
        let capacity = configuration.maximumMessages
        entries = BoundedLog(capacity: capacity)
        receiptLog = BoundedLog(capacity: capacity * 4)
        schedule = DeliverySchedule(
            sentAfter: configuration.sentAfter,
            deliveredAfter: configuration.deliveredAfter,
            capacity: capacity * 4
        )
    }

    /// Puts a message on the recipient's phone.
    func accept(_ submission: Submission, sid: String, at time: WallTime, receiptFault: Fault.Receipt?) -> Stored {
        let segments = MessageSegments(of: submission.body)
        let message = SandboxMessage(
            sequence: entries.nextNumber,
            sid: sid,
            accountSid: submission.accountSid,
            to: submission.to,
            from: submission.from,
            messagingServiceSid: submission.messagingServiceSid,
            body: submission.body,
            segments: segments.count,
            encoding: segments.encoding,
            receivedAt: time.internetDate,
            code: CodeFinder.code(in: submission.body),
            status: .queued,
            validityPeriod: submission.validityPeriod,
            statusCallback: submission.statusCallback
        )
        cursor.revision += 1
        numbers[sid] = message.sequence
        let entry = Entry(message: message, created: cursor.revision, revision: cursor.revision, acceptedAt: time)
        for dropped in entries.append(entry) { numbers[dropped.message.sid] = nil }
        schedule.plan(message: message.sequence, fault: receiptFault, at: .now)
        broadcast.signal()
        return (message, time)
    }

    /// Performs the changes of status that are due, and returns the receipts they cause.
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
            if step.isReported { receipts.append(report(step, of: entry.message)) }
        }
        if cursor != before { broadcast.signal() }
        return receipts
    }

    private func report(_ step: DeliverySchedule.Step, of message: SandboxMessage) -> SandboxReceipt {
        var parameters = [
            "MessageSid": message.sid, "SmsSid": message.sid,
            "MessageStatus": step.status.rawValue, "SmsStatus": step.status.rawValue,
            "To": message.to, "From": message.from,
            "AccountSid": message.accountSid, "ApiVersion": TwilioGateway.version,
        ]
        parameters["ErrorCode"] = step.errorCode.map(String.init)
        parameters["MessagingServiceSid"] = message.messagingServiceSid
        let receipt = SandboxReceipt(
            sequence: receiptLog.nextNumber,
            at: WallTime.now().internetDate,
            statusCallback: message.statusCallback,
            parameters: parameters
        )
        _ = receiptLog.append(receipt)
        return receipt
    }

    /// Forgets every message and receipt, and what was still to happen to them.
    func clear() {
        entries.removeAll()
        numbers = [:]
        receiptLog.removeAll()
        schedule.removeAll()
        cursor = Cursor(epoch: cursor.epoch &+ 1, revision: 0)
        broadcast.signal()
    }
}

// MARK: Reading

extension Inbox {
    /// How many messages were ever accepted.
    var accepted: Int { entries.nextNumber - 1 }

    /// How many messages are kept.
    var kept: Int { entries.elements.count }

    var end: Cursor { cursor }

    func messages(to recipient: String?, after sequence: Int, limit: Int = .max) -> [SandboxMessage] {
        Array(
            entries.elements(after: sequence).lazy.map(\.message)
                .filter { recipient == nil || $0.to == recipient }
                .prefix(max(0, limit))
        )
    }

    /// The newest messages of an account, newest first.
    func newest(account: String, to recipient: String?, limit: Int) -> [Stored] {
        Array(
            entries.elements.reversed().lazy
                .filter { $0.message.accountSid == account && (recipient == nil || $0.message.to == recipient) }
                .prefix(max(0, limit))
                .map { ($0.message, $0.acceptedAt) }
        )
    }

    func message(sid: String) -> Stored? {
        numbers[sid].flatMap { entries[$0] }.map { ($0.message, $0.acceptedAt) }
    }

    func receipts(after sequence: Int, limit: Int = .max) -> [SandboxReceipt] {
        Array(receiptLog.elements(after: sequence).prefix(max(0, limit)))
    }

    /// What is new or has changed since a cursor of the same epoch, in the order of change.
    func changes(since known: Cursor) -> [Change] {
        entries.elements.filter { $0.revision > known.revision }
            .sorted { $0.revision < $1.revision }
            .map { entry in
                Change(
                    message: entry.message,
                    isNew: entry.created > known.revision,
                    cursor: Cursor(epoch: cursor.epoch, revision: entry.revision)
                )
            }
    }
}
