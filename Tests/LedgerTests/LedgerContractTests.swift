// SPDX-License-Identifier: Apache-2.0

import Administration
import Formats
import Ledger
import TestSupport
import Testing
import Verification

/// Tests the behaviour that the pipeline requires of every ledger.
@Suite struct LedgerContractTests {
    private static let people = 40

    @Test func `a request is sent once, told once and approved once, however often its record comes`() async throws {
        try await LedgerDatabase.with { database in
            let worker = LedgerWorker(database.ledger())
            let records = [InboundRecord].people(Self.people, at: try await worker.now())
            let claims = try await worker.intake(records).value
            #expect(Set(claims.map(\.recipient)).count == Self.people)
            #expect(try await worker.intake(records).value.isEmpty)

            let events = try await worker.settle(claims, .sent).outbox
            #expect(Set(events.map(\.stream)) == Set(claims.map(\.reference.verificationID.uuid)))
            #expect(events.allSatisfy { $0.json?.text("status") == "sent" })
            #expect(try await worker.settle(claims, .sent).outbox.isEmpty)
            try await worker.ledger.published(events)
            #expect(try await database.count("SELECT count(*) FROM courier.unpublished") == 0)

            let verifier = Verifier(pool: database.pool, hashKeys: CodeKeys.test.hash)
            for claim in claims {
                #expect(try await verifier.check(claim, code: claim.wrongCodes(1)[0]).status == .incorrect)
                #expect(try await verifier.check(claim).status == .approved)
                #expect(try await verifier.check(claim).status == .alreadyApproved)
            }
        }
    }

    @Test func `what is refused or cannot be read is told once`() async throws {
        try await LedgerDatabase.with { database in
            let worker = LedgerWorker(database.ledger())
            let now = try await worker.now()
            var records: [InboundRecord] = []
            for index in 0..<12 {
                let offset = Int64(3 * index)
                records.append(.raw("{", offset: offset, at: now))
                records.append(.request(id: "no-\(index)", purpose: "nap", offset: offset + 1, at: now))
                let stranger = #","tenant":"nobody""#
                records.append(.request(id: "who-\(index)", offset: offset + 2, at: now, more: stranger))
            }
            let told = try await worker.intake(records).outbox
            #expect(told.count == records.count)
            #expect(told.count(where: \.isDeadLetter) == 12)
            #expect(Set(told.map(\.stream)).count == records.count)
            #expect(try await worker.intake(records).outbox.isEmpty)
            try await worker.ledger.published(told)
            #expect(try await database.count("SELECT count(*) FROM courier.unpublished") == 0)
        }
    }

    @Test func `sweeps take over what is left behind, and end what ran out`() async throws {
        try await LedgerDatabase.with { database in
            let worker = LedgerWorker(database.ledger())
            let ledger = worker.ledger
            let claims = try await worker.claims(Self.people)
            try await ledger.release(claims)
            let some = try await ledger.sweepSends(capacity: 7).value
            #expect(some.count == 7)
            let others = try await ledger.sweepSends(capacity: 100).value
            #expect(Set((some + others).map(\.id)) == Set(claims.map(\.id)))
            #expect(try await ledger.markDispatching(claims).isEmpty, "the claims of before are lost")

            _ = try await worker.settle(some + others, .sent)
            try await database.script("UPDATE courier.verification SET expires_at = now(), due_at = now()")
            #expect(try await ledger.sweepExpired().outbox.isEmpty, "they are behind events that are not published")
            try await database.lapseOutbox()
            let swept = try await ledger.sweepOutbox()
            let streams = Dictionary(grouping: swept, by: \.stream).values
            #expect(streams.count == Self.people)
            #expect(streams.allSatisfy { $0.map { $0.json?.text("status") } == ["sent", "expired"] })
            try await ledger.published(swept)
            #expect(try await database.count("SELECT count(*) FROM courier.unpublished") == 0)
            try await ledger.maintain()
        }
    }

    @Test func `a receipt finds its send by our id or the provider's`() async throws {
        try await LedgerDatabase.with { database in
            let worker = LedgerWorker(database.ledger())
            let claims = try await worker.claims(Self.people)
            _ = try await worker.ledger.markDispatching(claims)
            let results = claims.enumerated().map { index, claim in SendResult(claim, messageID: "SM\(index)") }
            try await worker.publish(try await worker.ledger.record(results))

            let ours = claims[..<20].map { Receipt.of($0, .delivered) }
            let theirs = (20..<Self.people).map {
                Receipt(provider: "main", sendID: nil, providerMessageID: "SM\($0)", status: .delivered)
            }
            let receipts = (ours + theirs).map { ReceivedReceipt($0) }
            let told = try await worker.ledger.receive(receipts, deadLetters: [])
            #expect(Set(told.value.settled.map(\.reference.id)) == Set(claims.map(\.id)))
            #expect(told.outbox.count == Self.people)
            #expect(try await worker.ledger.receive(receipts, deadLetters: []).outbox.isEmpty)
            #expect(try await database.count("SELECT count(*) FROM courier.receipt") == 0)
            try await worker.ledger.published(told.outbox)
            #expect(try await database.count("SELECT count(*) FROM courier.unpublished") == 0)
        }
    }

    @Test func `a receipt that outruns its send settles it in a sweep`() async throws {
        try await LedgerDatabase.with { database in
            let worker = LedgerWorker(database.ledger())
            let claims = try await worker.claims(Self.people)
            let receipts = claims.indices.map { index in
                ReceivedReceipt(
                    Receipt(provider: "main", sendID: nil, providerMessageID: "SM\(index)", status: .delivered)
                )
            }
            #expect(try await worker.ledger.receive(receipts, deadLetters: []).outbox.isEmpty)
            _ = try await worker.ledger.markDispatching(claims)
            let results = claims.enumerated().map { index, claim in SendResult(claim, messageID: "SM\(index)") }
            try await worker.publish(try await worker.ledger.record(results))

            try await database.script("UPDATE courier.receipt SET due_at = clock_timestamp()")
            let told = try await worker.ledger.sweepReceipts().outbox
            #expect(told.map { $0.json?.text("status") } == [String?](repeating: "delivered", count: Self.people))
            #expect(Set(told.map(\.stream)).count == Self.people)
            #expect(try await database.count("SELECT count(*) FROM courier.receipt") == 0)
            try await worker.ledger.published(told)
            #expect(try await database.count("SELECT count(*) FROM courier.unpublished") == 0)
        }
    }

    @Test func `a receipt whose send never turns up becomes one dead letter`() async throws {
        try await LedgerDatabase.with { database in
            let worker = LedgerWorker(database.ledger())
            let stray = Receipt(provider: "main", sendID: nil, providerMessageID: "SM-none", status: .delivered)
            _ = try await worker.ledger.receive([ReceivedReceipt(stray)], deadLetters: [])
            try await database.script(
                "UPDATE courier.receipt SET due_at = clock_timestamp(), received_at = received_at - interval '2 hours'"
            )
            let letters = try await worker.ledger.sweepReceipts().outbox
            #expect(letters.map(\.isDeadLetter) == [true])
            try await worker.ledger.published(letters)
            #expect(try await database.count("SELECT count(*) FROM courier.unpublished") == 0)
        }
    }
}

extension SendResult {
    fileprivate convenience init(_ claim: ClaimedSend, messageID: String) {
        let attempt = Attempt(provider: "main", messageID: messageID, segments: 1, encoding: "GSM-7", errorCode: nil)
        self.init(send: claim.reference, disposition: .sent, attempts: 1, attempt: attempt)
    }
}
