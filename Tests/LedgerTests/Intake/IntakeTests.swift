// SPDX-License-Identifier: Apache-2.0

import Formats
import Ledger
import TestSupport
import Testing
import Verification

@Suite struct IntakeTests {
    @Test func `a new request becomes a verification, a claimed send and no event`() async throws {
        try await LedgerDatabase.with { database in
            let worker = LedgerWorker(database.ledger())
            let recorded = try await worker.intake([.request(id: "r1", at: try await worker.now())])

            let claim = try #require(recorded.value.first)
            #expect(recorded.value.count == 1)
            #expect(recorded.outbox.isEmpty)
            #expect(claim.recipient == .phone(try #require(PhoneNumber("+4915123456789"))))
            #expect(try await database.text("SELECT state FROM courier.send") == "claimed")
            #expect(try await database.text("SELECT state FROM courier.verification") == "live")
            #expect(try await database.count("SELECT count(*) FROM courier.verification WHERE sealed IS NOT NULL") == 1)
        }
    }

    @Test func `the same record again changes nothing and publishes nothing`() async throws {
        try await LedgerDatabase.with { database in
            let worker = LedgerWorker(database.ledger())
            let record = InboundRecord.request(id: "r1", offset: 7, at: try await worker.now())
            _ = try await worker.intake([record])
            let again = try await worker.intake([record])

            #expect(again.value.isEmpty)
            #expect(again.outbox.isEmpty)
            #expect(try await database.count("SELECT count(*) FROM courier.send") == 1)
        }
    }

    @Test func `the same request id in another record republishes and sends nothing`() async throws {
        try await LedgerDatabase.with { database in
            let worker = LedgerWorker(database.ledger())
            let now = try await worker.now()
            let first = try await worker.intake([.request(id: "r1", offset: 7, at: now)])
            let again = try await worker.intake([.request(id: "r1", offset: 9, at: now)])

            #expect(again.value.isEmpty)
            let event = try #require(again.outbox.first?.json)
            #expect(event.text("reason") == "duplicate_request")
            #expect(event.text("verificationId") == first.value.first?.reference.verificationID.description)
            let replayed = try await worker.intake([.request(id: "r1", offset: 9, at: now)])
            #expect(replayed.outbox.isEmpty)
        }
    }

    @Test func `the same request id with another payload is a conflict`() async throws {
        try await LedgerDatabase.with { database in
            let worker = LedgerWorker(database.ledger())
            let now = try await worker.now()
            _ = try await worker.intake([.request(id: "r1", offset: 1, at: now)])
            let other = try await worker.intake([
                .request(id: "r1", phoneNumber: "+4915123456780", offset: 2, at: now)
            ])

            #expect(other.value.isEmpty)
            let event = try #require(other.outbox.first?.json)
            #expect(event.text("status") == "rejected")
            #expect(event.text("reason") == "request_id_conflict")
            #expect(event.text("verificationId") == nil)
        }
    }

    @Test func `a second request before the message has left is suppressed with the first one's verification`()
        async throws
    {
        try await LedgerDatabase.with { database in
            let worker = LedgerWorker(database.ledger())
            let now = try await worker.now()
            // One duplicate is in the same batch, one in a later batch.
            let both = try await worker.intake([
                .request(id: "r1", offset: 1, at: now), .request(id: "r2", offset: 2, at: now),
            ])
            let third = try await worker.intake([.request(id: "r3", offset: 3, at: now)])

            #expect(both.value.count == 1)
            #expect(third.value.isEmpty)
            let id = both.value.first?.reference.verificationID.description
            for (record, sequence) in zip(both.outbox + third.outbox, [1, 2]) {
                #expect(record.json?.text("status") == "suppressed")
                #expect(record.json?.text("reason") == "send_pending")
                #expect(record.json?.text("verificationId") == id)
                #expect(Int(record.sequence) == sequence)
            }
        }
    }

    @Test func `a bad record among good ones leaves its neighbours untouched`() async throws {
        try await LedgerDatabase.with { database in
            let worker = LedgerWorker(database.ledger())
            let now = try await worker.now()
            let recorded = try await worker.intake([
                .request(id: "r1", phoneNumber: "+4915123456781", offset: 1, at: now),
                .raw("{", offset: 2, at: now),
                .request(id: "r3", phoneNumber: "12", offset: 3, at: now),
                .request(id: "r4", phoneNumber: "+4915123456784", offset: 4, at: now),
            ])

            #expect(recorded.value.map(\.reference.requestID) == ["r1", "r4"])
            #expect(recorded.outbox.map(\.isDeadLetter) == [true, false])
            #expect(recorded.outbox.first?.value == Array("{".utf8))
            #expect(recorded.outbox.last?.json?.text("reason") == "invalid_phone_number")
            #expect(recorded.outbox.last?.json?.text("field") == "recipient.phoneNumber")
            let again = try await worker.intake([.raw("{", offset: 2, at: now)])
            #expect(again.outbox.isEmpty)
        }
    }

    @Test func `a broken record is one dead letter, and so is another one in its place when the topic is made anew`()
        async throws
    {
        try await LedgerDatabase.with { database in
            let worker = LedgerWorker(database.ledger())
            let now = try await worker.now()
            let broken = [InboundRecord.raw("{", offset: 5, at: now)]
            #expect(try await worker.intake(broken).outbox.map(\.isDeadLetter) == [true])
            #expect(try await worker.intake(broken).outbox.isEmpty)
            let other = [InboundRecord.raw("{", offset: 5, at: now + .milliseconds(1))]
            #expect(try await worker.intake(other).outbox.map(\.isDeadLetter) == [true])
        }
    }

    @Test func `a request past its age or its deadline is answered and never sent`() async throws {
        try await LedgerDatabase.with { database in
            let worker = LedgerWorker(database.ledger())
            let now = try await worker.now()
            let recorded = try await worker.intake([
                .request(id: "r1", offset: 1, at: now - .seconds(301)),
                .request(
                    id: "r2",
                    offset: 2,
                    at: now,
                    more: #","deadline":"\#((now - .seconds(1)).rfc3339)""#
                ),
            ])

            #expect(recorded.value.isEmpty)
            #expect(recorded.outbox.map { $0.json?.text("status") } == ["expired_unsent", "expired_unsent"])
            #expect(recorded.outbox.map { $0.json?.text("reason") } == ["stale_request", "deadline"])
        }
    }

    @Test(arguments: [1, 2]) func `parallel workers with one recipient make one send`(seed: Int) async throws {
        try await LedgerDatabase.with(connections: 4) { database in
            let worker = LedgerWorker(database.ledger())
            let now = try await worker.now()
            let sends = try await withThrowingTaskGroup(of: Int.self) { group in
                for batch in 0..<20 {
                    group.addTask {
                        let records = (0..<50).map { index in
                            InboundRecord.request(
                                id: "r\(seed)-\(batch)-\(index)",
                                phoneNumber: "+49151234567\(10 + (index * 7 + batch) % 5)",
                                offset: Int64(batch * 50 + index),
                                at: now
                            )
                        }
                        return try await worker.intakeBesideOthers(records).value.count
                    }
                }
                return try await group.reduce(0, +)
            }

            #expect(sends == 5)
            #expect(try await database.count("SELECT count(*) FROM courier.verification") == 5)
            #expect(try await database.count("SELECT sum(sequence) FROM courier.verification") == 1000 - 5)
        }
    }

    @Test func `parallel workers with one request id answer it once`() async throws {
        try await LedgerDatabase.with(connections: 4) { database in
            let worker = LedgerWorker(database.ledger())
            let now = try await worker.now()
            let outcomes = try await withThrowingTaskGroup(of: (Int, [OutboxRecord]).self) { group in
                for index in 0..<16 {
                    group.addTask {
                        let recorded = try await worker.intakeBesideOthers([
                            .request(
                                id: "r1",
                                phoneNumber: "+49151234567\(10 + index)",
                                offset: Int64(index),
                                partition: Int32(index),
                                at: now
                            )
                        ])
                        return (recorded.value.count, recorded.outbox)
                    }
                }
                return try await group.reduce(into: []) { $0.append($1) }
            }

            #expect(outcomes.reduce(0) { $0 + $1.0 } == 1)
            let reasons = outcomes.flatMap(\.1).compactMap { $0.json?.text("reason") }
            #expect(reasons == [String](repeating: "request_id_conflict", count: 15))
        }
    }
}
