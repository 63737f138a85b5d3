// SPDX-License-Identifier: Apache-2.0

extension Inbox {
    /// A new or changed entry since a cursor.
    struct Change: Sendable {
        enum Subject: Sendable {
            case message(SandboxMessage, isNew: Bool)
            case email(SandboxEmail)
            case push(SandboxPush)
            case delivery(SandboxDelivery)
        }

        let subject: Subject
        let cursor: Cursor
    }

    /// The number of text messages ever accepted.
    var accepted: Int { entries.nextNumber - 1 }

    /// The number of stored text messages.
    var kept: Int { entries.elements.count }

    /// The number of e-mails ever accepted.
    var acceptedEmails: Int { emailLog.nextNumber - 1 }

    /// The number of pushes ever accepted.
    var acceptedPushes: Int { pushLog.nextNumber - 1 }

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
                .map { ($0.message, $0.arrival.time) }
        )
    }

    func message(sid: String) -> Stored? {
        numbers[sid].flatMap { entries[$0] }.map { ($0.message, $0.arrival.time) }
    }

    func receipts(after sequence: Int, limit: Int = .max) -> [SandboxReceipt] {
        Array(receiptLog.elements(after: sequence).prefix(max(0, limit)))
    }

    func emails(to recipient: String?, after sequence: Int, limit: Int = .max) -> [SandboxEmail] {
        Array(
            emailLog.elements(after: sequence).lazy.map(\.value)
                .filter { recipient.map($0.to.contains) ?? true }
                .prefix(max(0, limit))
        )
    }

    func email(sequence: Int) -> SandboxEmail? { emailLog[sequence]?.value }

    func pushes(to token: String?, after sequence: Int, limit: Int = .max) -> [SandboxPush] {
        Array(
            pushLog.elements(after: sequence).lazy.map(\.value)
                .filter { token == nil || $0.token == token }
                .prefix(max(0, limit))
        )
    }

    /// The new and changed entries since a cursor of the same epoch, in the order of change.
    func changes(since known: Cursor) -> [Change] {
        let messages = entries.elements.lazy.filter { $0.revision > known.revision }.map { entry in
            (entry.revision, Change.Subject.message(entry.message, isNew: entry.created > known.revision))
        }
        let emails = emailLog.elements.lazy.filter { $0.revision > known.revision }
            .map { ($0.revision, Change.Subject.email($0.value)) }
        let pushes = pushLog.elements.lazy.filter { $0.revision > known.revision }
            .map { ($0.revision, Change.Subject.push($0.value)) }
        let deliveries = deliveryLog.elements.lazy.filter { $0.revision > known.revision }
            .map { ($0.revision, Change.Subject.delivery($0.value)) }
        return (Array(messages) + emails + pushes + deliveries).sorted { $0.0 < $1.0 }.map { revision, subject in
            Change(subject: subject, cursor: Cursor(epoch: cursor.epoch, revision: revision))
        }
    }

    /// The ids of a message, e-mail or push that events may name, and the address of an e-mail; nil for an unknown id.
    func references(to sid: String) -> (ids: [String], email: String?)? {
        if let message = message(sid: sid)?.message {
            return ([sid] + [message.reference].compactMap { $0 }, nil)
        }
        if let email = emailLog.elements.last(where: { $0.value.sid == sid })?.value {
            // A worker's `Message-ID` begins with the id of its send.
            return ([email.messageID.map { String($0.prefix { $0 != "@" }) } ?? sid], email.to.first)
        }
        return pushLog.elements.contains { $0.value.sid == sid } ? ([sid], nil) : nil
    }

    /// The newest delivery event about a message with one of these ids.
    func delivery(about ids: [String]) -> SandboxDelivery? {
        deliveryLog.elements.last { $0.value.isAbout(ids) }?.value
    }
}
