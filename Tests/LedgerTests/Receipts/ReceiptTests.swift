// SPDX-License-Identifier: Apache-2.0

import Formats
import Ledger
import TestSupport
import Testing
import Verification

@Suite struct ReceiptTests {
    @Test func `a receipt is told once however often its record comes`() async throws {
        try await LedgerDatabase.with { database in
            let worker = LedgerWorker(database.ledger())
            let claim = try await worker.claim()
            try await worker.publish(try await worker.settle([claim], .sent))
            let receipt = ReceivedReceipt(.of(claim, .delivered))

            let told = try await worker.ledger.receive([receipt], deadLetters: []).outbox
            #expect(told.map { $0.json?.text("status") } == ["delivered"])
            #expect(told.map(\.sequence) == [2])
            try await worker.ledger.published(told)
            #expect(try await worker.ledger.receive([receipt], deadLetters: []).outbox.isEmpty)
            #expect(try await database.text("SELECT state FROM courier.send") == "delivered")
            #expect(try await database.count("SELECT count(*) FROM courier.receipt") == 0)
        }
    }

    @Test func `one that comes before its send is kept sealed, and settles it in a sweep`() async throws {
        try await LedgerDatabase.with { database in
            let worker = LedgerWorker(database.ledger())
            let claim = try await worker.claim()
            _ = try await worker.ledger.markDispatching([claim])
            let receipt = ReceivedReceipt(.of(claim, .undelivered))
            for _ in 0..<2 {
                #expect(try await worker.ledger.receive([receipt], deadLetters: []).outbox.isEmpty)
            }
            #expect(try await database.count("SELECT count(*) FROM courier.receipt") == 1)
            let row = try await database.text("SELECT receipt::text FROM courier.receipt")
            #expect(row?.contains("4915100000000") == false)

            #expect(try await worker.ledger.sweepReceipts().outbox.isEmpty, "it is not due yet")
            try await worker.publish(try await worker.ledger.record([.init(claim, .sent)]))
            try await database.script("UPDATE courier.receipt SET due_at = clock_timestamp()")
            let told = try await worker.ledger.sweepReceipts().outbox
            #expect(told.map { $0.json?.text("status") } == ["undelivered"])
            #expect(told.map { $0.json?.text("reason") } == ["unreachable"])
            try await worker.ledger.published(told)
            let asked = [InboundRecord].people(1, at: try await worker.now())[0]
            let moved = InboundRecord.raw(
                String(decoding: asked.value ?? [], as: UTF8.self),
                offset: 9,
                partition: 1,
                at: try await worker.now()
            )
            let again = try await worker.intake([moved]).outbox.first?.json
            #expect(again?.text("status") == "undelivered" && again?.text("originalReason") == "unreachable")
            #expect(try await database.count("SELECT count(*) FROM courier.receipt") == 0)
        }
    }

    @Test func `one whose send never turns up waits longer and longer, and becomes a dead letter as it came`()
        async throws
    {
        try await LedgerDatabase.with { database in
            let worker = LedgerWorker(database.ledger())
            let stray = ReceivedReceipt(
                Receipt(provider: "main", sendID: nil, providerMessageID: "SM9", status: .delivered)
            )
            _ = try await worker.ledger.receive([stray], deadLetters: [])
            var waits: [Int] = []
            for _ in 0..<12 {
                let wait = try await database.text(
                    "SELECT extract(epoch FROM due_at - clock_timestamp())::int::text FROM courier.receipt"
                )
                waits.append(wait.flatMap { Int($0) } ?? -1)
                try await database.script("UPDATE courier.receipt SET due_at = clock_timestamp()")
                let swept = try await worker.ledger.sweepReceipts()
                #expect(swept.outbox.isEmpty && swept.value == 1)
            }
            #expect(waits == waits.sorted())
            #expect(waits.last.map { (500...512).contains($0) } == true, "\(waits)")

            try await database.script(
                "UPDATE courier.receipt SET due_at = clock_timestamp(), received_at = received_at - interval '1 hour'"
            )
            let dead = try await worker.ledger.sweepReceipts().outbox
            #expect(dead.map(\.isDeadLetter) == [true])
            #expect(dead.first?.value == stray.record.value)
            #expect(dead.first?.headers.contains(RecordField("dead-letter-reason", "unknown_receipt")) == true)
            #expect(try await database.count("SELECT count(*) FROM courier.receipt") == 0)
        }
    }

    @Test func `what a worker learned of a lost claim changes no state, and lets a receipt find the send`() async throws
    {
        try await LedgerDatabase.with { database in
            let worker = LedgerWorker(database.ledger())
            let claim = try await worker.claim()
            _ = try await worker.ledger.markDispatching([claim])
            try await database.lapseSends()
            try await worker.publish(try await worker.ledger.sweepSends(capacity: 10))
            #expect(try await database.text("SELECT state FROM courier.send") == "unknown")
            try await database.script("UPDATE courier.send SET fence = fence + 1")

            #expect(try await worker.ledger.record([.init(claim, .sent)]).outbox.isEmpty)
            #expect(try await database.text("SELECT state FROM courier.send") == "unknown")
            let byMessage = Receipt(provider: "main", sendID: nil, providerMessageID: "SM1", status: .delivered)
            let told = try await worker.ledger.receive([ReceivedReceipt(byMessage)], deadLetters: []).outbox
            #expect(told.map { $0.json?.text("status") } == ["delivered"])
        }
    }

    @Test func `nobody is named for a message that was lost with its worker, so whoever has it may say so`()
        async throws
    {
        try await LedgerDatabase.with { database in
            let worker = LedgerWorker(database.ledger())
            _ = try await worker.settle([try await worker.claim()], .retry(after: .zero))
            #expect(try await database.text("SELECT provider FROM courier.send") == "main")
            let again = try #require(try await worker.ledger.sweepSends(capacity: 1).value.first)
            _ = try await worker.ledger.markDispatching([again])
            try await database.lapseSends()
            try await worker.publish(try await worker.ledger.sweepSends(capacity: 1))
            #expect(try await database.text("SELECT state FROM courier.send") == "unknown")
            #expect(try await database.text("SELECT provider FROM courier.send") == nil)

            let receipt = Receipt(provider: "other", sendID: again.id, providerMessageID: nil, status: .undelivered)
            let told = try await worker.ledger.receive([ReceivedReceipt(receipt)], deadLetters: []).outbox
            #expect(told.map { $0.json?.text("status") } == ["undelivered"])
        }
    }

    @Test func `a receipt for a send whose verification is gone settles it, and stops no other`() async throws {
        try await LedgerDatabase.with { database in
            let worker = LedgerWorker(database.ledger())
            let claims = try await worker.claims(2)
            try await worker.publish(try await worker.settle(claims, .sent))
            let gone = claims[0].reference.verificationID
            try await database.script("DELETE FROM courier.verification WHERE id = '\(gone)'")
            let receipts = claims.map { ReceivedReceipt(.of($0, .delivered)) }
            let told = try await worker.ledger.receive(receipts, deadLetters: []).outbox
            #expect(told.map(\.stream) == [claims[1].reference.verificationID.uuid])
            #expect(try await database.count("SELECT count(*) FROM courier.send WHERE state = 'delivered'") == 2)
        }
    }
}

extension Receipt {
    static func of(_ claim: ClaimedSend, _ status: Status) -> Receipt {
        Receipt(
            provider: "main",
            sendID: claim.id,
            providerMessageID: nil,
            status: status,
            reason: status == .undelivered ? .unreachable : nil
        )
    }
}

extension ReceivedReceipt {
    /// A receipt in its own record, which contains a number as a provider's callback does.
    init(_ receipt: Receipt) {
        let record = InboundRecord(
            topic: "receipts",
            partition: 0,
            offset: Int64.random(in: 0...(.max)),
            timestamp: nil,
            key: nil,
            value: Array(#"{"raw":{"To":"+4915100000000"}}"#.utf8),
            headers: []
        )
        self.init(receipt, in: record)
    }
}
