// SPDX-License-Identifier: Apache-2.0

import Formats
import TestSupport
import Testing
import Verification

@Suite struct DecisionReceiptTests {
    private static let now = Timestamp(milliseconds: 1_760_000_000_000)
    private static let grace = Duration.seconds(3600)

    /// One send in a given state, with the effects of its receipts.
    private struct Desk {
        var send: ReportedSend
        var verification: StoredVerification
        var statuses: [String] = []
        var waiting: [ReceivedReceipt] = []
        var due: [Timestamp] = []
        var deadLetters = 0

        init(_ state: ReportedSend.State, messageID: String? = "SM1", isFictional: Bool = false) throws {
            let number = try #require(PhoneNumber("+4915123456789"))
            var tables = DecisionTables { tenant in
                if isFictional { tenant.testNumbers = [TestNumber(number: number, code: "654321", until: nil)] }
            }
            let changes = tables.intake(.request(id: "r1", phoneNumber: "+4915123456789", at: tables.now))
            let claim = try #require(changes.sends.first)
            verification = try #require(changes.insertedVerifications.first)
            send = ReportedSend(
                reference: claim.reference,
                state: state,
                provider: "main",
                messageID: messageID,
                segments: 1,
                encoding: "GSM-7",
                errorCode: nil
            )
        }

        mutating func receive(_ receipts: [ReceivedReceipt], at now: Timestamp = DecisionReceiptTests.now) {
            let changes = ReceiptDecision.settle(
                receipts,
                sends: [send],
                verifications: [verification.id: verification],
                now: now,
                settings: .test { $0.receiptGrace = DecisionReceiptTests.grace }
            )
            send = changes.sends[send.reference.id] ?? send
            verification = changes.verifications[verification.id] ?? verification
            waiting = changes.waiting.map(\.receipt)
            due = changes.waiting.map(\.due)
            deadLetters += changes.outbox.count { $0.isDeadLetter }
            statuses += changes.outbox.filter { !$0.isDeadLetter }.map { $0.eventText("status") ?? "" }
        }

        func receipt(
            _ status: Receipt.Status,
            messageID: String? = nil,
            from provider: String = "main",
            reason: UndeliveredReason = .unreachable
        ) -> ReceivedReceipt {
            .init(
                Receipt(
                    provider: provider,
                    sendID: send.reference.id,
                    providerMessageID: messageID,
                    status: status,
                    reason: status == .undelivered ? reason : nil
                ),
                in: .receipt(offset: Int64.random(in: 0...1_000_000_000))
            )
        }
    }

    @Test(
        arguments: [ReportedSend.State.sent, .unknown],
        [Receipt.Status.sent, .delivered, .undelivered]
    )
    func `a receipt settles a send that was handed over, or of which nobody knows it`(
        state: ReportedSend.State,
        status: Receipt.Status
    ) throws {
        var desk = try Desk(state)
        desk.receive([desk.receipt(status)])
        let saysNothing = state == .sent && status == .sent
        #expect(desk.send.state.rawValue == status.rawValue)
        #expect(desk.statuses == (saysNothing ? [] : [status.rawValue]))
        #expect(desk.verification.sequence == (saysNothing ? 0 : 1))
        #expect(desk.waiting.isEmpty && desk.deadLetters == 0)
    }

    @Test(arguments: [ReportedSend.State.failed, .delivered, .undelivered], Receipt.Status.allCases)
    func `what is settled never goes back`(state: ReportedSend.State, status: Receipt.Status) throws {
        var desk = try Desk(state)
        desk.receive([desk.receipt(status)])
        #expect(desk.send.state == state)
        #expect(desk.statuses.isEmpty && desk.waiting.isEmpty && desk.deadLetters == 0)
    }

    @Test(arguments: [ReportedSend.State.pending, .claimed, .dispatching])
    func `a receipt that outruns its send waits, and then settles it`(state: ReportedSend.State) throws {
        var desk = try Desk(state, messageID: nil)
        desk.receive([desk.receipt(.delivered)])
        #expect(desk.statuses.isEmpty)
        let waiting = desk.waiting
        #expect(waiting.count == 1)
        desk.send.state = .sent
        desk.receive(waiting)
        #expect(desk.statuses == ["delivered"])
    }

    @Test func `a receipt of a send that nobody knows waits an hour, and then is a dead letter`() throws {
        var desk = try Desk(.sent)
        let stray = Receipt(provider: "main", sendID: nil, providerMessageID: "SM9", status: .delivered)
        func received(after wait: Duration, tries: Int16) -> ReceivedReceipt {
            let record = InboundRecord.receipt(offset: 1)
            return ReceivedReceipt(
                id: UUIDValue(1),
                receipt: stray,
                record: record,
                receivedAt: Self.now - wait,
                tries: tries
            )
        }
        desk.receive([received(after: .seconds(3599), tries: .max)])
        #expect(desk.waiting.count == 1 && desk.deadLetters == 0)
        #expect(desk.due == [Self.now + .seconds(1)], "it is told of when its time is over")
        desk.receive([received(after: .seconds(3600), tries: 3)])
        #expect(desk.waiting.isEmpty && desk.deadLetters == 1)
    }

    @Test func `a receipt of a message that another provider had refused changes nothing`() throws {
        var desk = try Desk(.sent, messageID: "SM-of-the-second")
        desk.receive([desk.receipt(.undelivered, messageID: "SM-of-the-first")])
        #expect(desk.send.state == .sent)
        #expect(desk.statuses.isEmpty && desk.waiting.isEmpty)
    }

    @Test(arguments: Receipt.Status.allCases)
    func `what a provider says that did not take the message changes nothing`(status: Receipt.Status) throws {
        for messageID in ["SM1", nil] {
            var desk = try Desk(.sent, messageID: messageID)
            desk.receive([desk.receipt(status, from: "first")])
            #expect(desk.send.state == .sent && desk.send.provider == "main")
            #expect(desk.statuses.isEmpty && desk.waiting.isEmpty)
        }
    }

    @Test func `that another provider did not deliver a message does not say what became of it`() throws {
        var desk = try Desk(.unknown, messageID: nil)
        desk.receive([desk.receipt(.undelivered, messageID: "F1", from: "first")])
        #expect(desk.send.state == .unknown && desk.statuses.isEmpty)
        desk.receive([desk.receipt(.delivered, messageID: "SM1")])
        #expect(desk.statuses == ["delivered"])
    }

    @Test func `who has a message that nobody knew of is who says so, and may say more of it`() throws {
        var desk = try Desk(.unknown, messageID: nil)
        desk.receive([desk.receipt(.sent, from: "first")])
        #expect(desk.send.provider == "first")
        desk.receive([desk.receipt(.undelivered, from: "first")])
        #expect(desk.statuses == ["sent", "undelivered"])
        #expect(desk.verification.usedProviders == ["first"])
    }

    @Test func `an opt-out that a receipt tells is kept with the verification`() throws {
        for reason in UndeliveredReason.allCases {
            var desk = try Desk(.sent, messageID: "SM1")
            desk.receive([desk.receipt(.undelivered, messageID: "SM1", reason: reason)])
            #expect(desk.verification.optedOutAt == (reason == .optedOut ? "main" : nil))
        }
    }

    @Test func `receipts of a test number's message may name any provider`() throws {
        var desk = try Desk(.sent, messageID: nil, isFictional: true)
        desk.receive([desk.receipt(.delivered, from: "twilio")])
        #expect(desk.statuses == ["delivered"])
    }

    @Test func `a provider that delivered is one that has carried the verification`() throws {
        var desk = try Desk(.unknown, messageID: nil)
        #expect(desk.verification.usedProviders.isEmpty)
        desk.receive([desk.receipt(.delivered)])
        #expect(desk.verification.usedProviders == ["main"])
    }

    @Test func `the message is whose name for it is learnt, whoever was asked before`() throws {
        var desk = try Desk(.unknown, messageID: nil)
        desk.receive([desk.receipt(.sent, messageID: "B1", from: "backup")])
        #expect(desk.send.provider == "backup" && desk.send.messageID == "B1")
        let later = Receipt(provider: "backup", sendID: nil, providerMessageID: "B1", status: .delivered)
        desk.receive([.init(later, in: .receipt(offset: 2))])
        #expect(desk.statuses == ["sent", "delivered"])
    }

    @Test func `the provider's own id finds the send as well as ours`() throws {
        var desk = try Desk(.sent, messageID: "SM7")
        let receipt = Receipt(provider: "main", sendID: nil, providerMessageID: "SM7", status: .delivered)
        desk.receive([.init(receipt, in: .receipt(offset: 1))])
        #expect(desk.statuses == ["delivered"])
    }

    @Test func `another provider's message of the same name is another message`() throws {
        var desk = try Desk(.sent, messageID: "1000123")
        let receipt = Receipt(provider: "other", sendID: nil, providerMessageID: "1000123", status: .undelivered)
        desk.receive([.init(receipt, in: .receipt(offset: 1))])
        #expect(desk.send.state == .sent)
        #expect(desk.statuses.isEmpty && desk.waiting.count == 1)
    }

    @Test func `a verification that ran out stays expired, and its receipt is told all the same`() throws {
        var desk = try Desk(.sent)
        desk.verification.state = .expired
        desk.verification.status = .expired
        desk.receive([desk.receipt(.delivered)])
        #expect(desk.verification.status == .expired)
        #expect(desk.statuses == ["delivered"])
    }

    /// The events after a handover to a provider, which can arrive in any order.
    private enum Step: CaseIterable { case recorded, queued, sent, delivered, undelivered }

    @Test func `whatever the order of answer and receipts, the end is one, and each change is told once`() throws {
        for order in permutations(Step.allCases) {
            var desk = try Desk(.dispatching, messageID: nil)
            var queue: [ReceivedReceipt] = []
            for step in order {
                switch step {
                case .recorded: desk.send.state = .sent
                case .queued, .sent: queue.append(desk.receipt(.sent))
                case .delivered: queue.append(desk.receipt(.delivered))
                case .undelivered: queue.append(desk.receipt(.undelivered))
                }
                desk.receive(queue)
                queue = desk.waiting
            }
            #expect(queue.isEmpty, "\(order)")
            let first = order.first { $0 == .delivered || $0 == .undelivered }
            #expect(desk.send.state == (first == .delivered ? .delivered : .undelivered), "\(order)")
            #expect(desk.statuses == [desk.send.state.rawValue], "\(order)")
            #expect(desk.deadLetters == 0)
        }
    }

    @Test func `a record comes back from its stored bytes`() {
        let record = InboundRecord(
            topic: "receipts",
            partition: 3,
            offset: 99,
            timestamp: Self.now,
            key: nil,
            value: [0, 255, 10],
            headers: [RecordField("a", "b"), RecordField(name: "c", value: nil)]
        )
        #expect(InboundRecord(stored: record.stored) == record)
        #expect(InboundRecord(stored: []).headers.isEmpty)
    }
}

private func permutations<Element>(_ elements: [Element]) -> [[Element]] {
    guard let last = elements.last else { return [[]] }
    return permutations(elements.dropLast()).flatMap { shorter in
        (0...shorter.count).map { place in
            var longer = shorter
            longer.insert(last, at: place)
            return longer
        }
    }
}

extension InboundRecord {
    fileprivate static func receipt(offset: Int64) -> InboundRecord {
        InboundRecord(
            topic: "receipts",
            partition: 0,
            offset: offset,
            timestamp: nil,
            key: nil,
            value: [],
            headers: []
        )
    }
}

extension OutboxRecord {
    fileprivate func eventText(_ name: String) -> String? {
        guard let value, case .object(let event)? = try? JSONScanner.parse(value) else { return nil }
        return event.text(name)
    }
}
