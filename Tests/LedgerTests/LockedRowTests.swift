// SPDX-License-Identifier: Apache-2.0

import PostgresClient
import TestSupport
import Testing
import Verification

@testable import Ledger

/// What a row or a table that another transaction locks keeps waiting, and what it does not.
@Suite(.timeLimit(.minutes(5))) struct LockedRowTests {
    /// Holds a lock until `release` is called.
    private static func hold(_ lock: String) -> String {
        let released = LedgerDatabase.waiting(for: "SELECT FROM pg_class WHERE relname = 'released'")
        return "BEGIN; \(lock); SELECT pg_advisory_xact_lock(1); \(released) COMMIT;"
    }

    private static func release(_ database: LedgerDatabase) async throws {
        try await database.script("CREATE TABLE public.released ()")
    }

    /// One row that each request of the person needs, with the person's claim.
    enum Needed: String, CaseIterable {
        case verification, person, window, request

        func lock(_ claim: ClaimedSend) -> String {
            let id = claim.reference.verificationID
            let window = LimitKey.address(.address(of: 0)).digest
            return switch self {
            case .verification: "SELECT FROM courier.verification WHERE id = '\(id)' FOR UPDATE"
            case .person:
                "SELECT FROM courier.person WHERE strpos(encode(slots, 'hex'), replace('\(id)', '-', '')) > 0 FOR UPDATE"
            case .window: "SELECT FROM courier.limit_window WHERE key = '\(window)' FOR UPDATE"
            case .request: "SELECT FROM courier.request WHERE verification_id = '\(id)' FOR UPDATE"
            }
        }
    }

    @Test func `a new request of a person whose verification is locked waits, and no other does`() async throws {
        try await LedgerDatabase.with { database in
            let worker = LedgerWorker(database.ledger(), policy: .counting)
            let claims = try await worker.claims(2)
            async let holder: Void = database.play(Self.hold(Needed.verification.lock(claims[0])))
            try await database.waitForHolders()
            let candidates = try await worker.candidates(.people(3, round: 1, at: try await worker.now()))
            let recorded = try await worker.decided(candidates)
            #expect(recorded.value.waiting.map(\.key.requestID) == ["p0-1"])
            #expect(recorded.value.sends.map(\.reference.requestID) == ["p2-1"])
            #expect(recorded.outbox.map(\.stream) == [claims[1].reference.verificationID.uuid])
            try await Self.release(database)
            try await holder
        }
    }

    @Test(arguments: Needed.allCases) func `a locked row keeps the requests waiting that need it, and no others`(
        needed: Needed
    ) async throws {
        try await LedgerDatabase.with { database in
            let worker = LedgerWorker(database.ledger(), policy: .counting)
            let claims = try await worker.claims(3)
            async let holder: Void = database.play(Self.hold(needed.lock(claims[0])))
            try await database.waitForHolders()

            // The same requests in other records, and strangers.
            let start = ContinuousClock.now
            let now = try await worker.now()
            let records = (0..<6).map { person in
                InboundRecord.request(
                    id: "p\(person)-0",
                    phoneNumber: "+4915\(100_000_000 + person)",
                    offset: Int64(90 + person),
                    at: now,
                    more: #","client":{"ip":"\#(String.address(of: person))"}"#
                )
            }
            let recorded = try await worker.decided(try await worker.candidates(records))
            #expect(ContinuousClock.now - start < .seconds(2))
            #expect(recorded.value.waiting.map(\.key.requestID) == ["p0-0"])
            #expect(recorded.value.sends.count == 3)
            #expect(recorded.outbox.map { $0.json?.text("reason") } == ["duplicate_request", "duplicate_request"])

            // The next batch does not wait at all.
            let shortest = try await quickest {
                let next = try await worker.decided(recorded.value.waiting)
                #expect(next.value.waiting.count == 1 && next.outbox.isEmpty)
            }
            #expect(shortest < .milliseconds(500))

            try await Self.release(database)
            try await holder
            let late = try await worker.decided(try await worker.candidates([records[0]]))
            #expect(late.value.waiting.isEmpty)
            #expect(late.outbox.map { $0.json?.text("reason") } == ["duplicate_request"])
        }
    }

    @Test func `behind a key that another transaction has not committed a request fails alone and soon`() async throws {
        try await LedgerDatabase.with { database in
            let worker = LedgerWorker(database.ledger())
            let person = Recipient.phone(try #require(PhoneNumber("+4915100000000")))
            let fingerprint = hexadecimal(CodeKeys.test.fingerprint(of: person))
            let key = "courier.limit_key('recipient', 'default', '\\x\(fingerprint)')"
            let lock = """
                INSERT INTO courier.person (key, kept_until, slots, entries) VALUES (\(key), 'infinity', '', '')
                """
            async let holder: Void = database.play(Self.hold(lock))
            try await database.waitForHolders()
            let candidates = try await worker.candidates(.people(2, round: 1, at: try await worker.now()))
            let error = await #expect(throws: PostgresError.self) { try await worker.decided(candidates) }
            #expect(error?.isLockConflict == true)
            let shortest = await quickest {
                await #expect(throws: PostgresError.self) { try await worker.decided([candidates[0]]) }
            }
            #expect(shortest < .milliseconds(500))
            #expect(try await worker.decided([candidates[1]]).value.sends.count == 1)
            try await Self.release(database)
            try await holder
        }
    }

    @Test(arguments: [Needed.verification.rawValue, "send"]) func `receipts of locked rows are kept, and others settle`(
        locked: String
    ) async throws {
        try await LedgerDatabase.with { database in
            let worker = LedgerWorker(database.ledger())
            let claims = try await worker.claims(2)
            try await worker.publish(try await worker.settle(claims, .sent))
            let send = "SELECT FROM courier.send WHERE id = '\(claims[0].id)' FOR UPDATE"
            let lock = locked == "send" ? send : Self.row(claims[0])
            async let holder: Void = database.play(Self.hold(lock))
            try await database.waitForHolders()

            let receipts = claims.map { ReceivedReceipt(.of($0, .delivered)) }
            let start = ContinuousClock.now
            let told = try await worker.ledger.receive(receipts, deadLetters: [])
            #expect(told.outbox.map(\.stream) == [claims[1].reference.verificationID.uuid])
            #expect(try await database.count("SELECT count(*) FROM courier.receipt") == 1)
            // However long it has waited for its send: that is there.
            try await database.script(
                "UPDATE courier.receipt SET due_at = clock_timestamp(), received_at = received_at - interval '2 hours'"
            )
            let swept = try await worker.ledger.sweepReceipts()
            #expect(swept.value == 1 && swept.outbox.isEmpty)
            #expect(ContinuousClock.now - start < .seconds(2))

            try await Self.release(database)
            try await holder
            try await database.script("UPDATE courier.receipt SET due_at = clock_timestamp()")
            let late = try await worker.ledger.sweepReceipts().outbox
            #expect(late.map { $0.json?.text("status") } == ["delivered"])
            #expect(late.map(\.stream) == [claims[0].reference.verificationID.uuid])
        }
    }

    @Test func `a locked send keeps no other one from leaving`() async throws {
        try await LedgerDatabase.with { database in
            let ledger = database.ledger()
            let claims = try await LedgerWorker(ledger).claims(3)
            let lock = "SELECT FROM courier.send WHERE id = '\(claims[1].id)' FOR UPDATE"
            async let holder: Void = database.play(Self.hold(lock))
            try await database.waitForHolders()
            let start = ContinuousClock.now
            #expect(try await ledger.markDispatching(claims) == [claims[0].id, claims[2].id])
            #expect(ContinuousClock.now - start < .seconds(2))
            try await Self.release(database)
            try await holder
        }
    }

    private static func row(_ claim: ClaimedSend) -> String {
        "SELECT FROM courier.verification WHERE id = '\(claim.reference.verificationID)' FOR UPDATE"
    }

    @Test func `a locked verification delays its own result only, whose lease is extended`() async throws {
        try await LedgerDatabase.with { database in
            let ledger = database.ledger()
            let claims = try await LedgerWorker(ledger).claims(3)
            _ = try await ledger.markDispatching(claims)
            try await database.script("UPDATE courier.parcel SET lease_until = clock_timestamp() + interval '5 s'")
            async let holder: Void = database.play(Self.hold(Self.row(claims[0])))
            try await database.waitForHolders()

            let start = ContinuousClock.now
            let recorded = try await ledger.record(claims.map { .init($0, .sent) })
            #expect(ContinuousClock.now - start < .seconds(2))
            #expect(recorded.value.map(\.send.id) == [claims[0].id])
            #expect(Set(recorded.outbox.map(\.stream)) == Set(claims[1...].map(\.reference.verificationID.uuid)))
            let extended = try await database.count(
                "SELECT count(*) FROM courier.parcel WHERE lease_until > clock_timestamp() + interval '20 s'"
            )
            #expect(extended == 1)

            try await Self.release(database)
            try await holder
            let rest = try await ledger.record(recorded.value)
            #expect(rest.value.isEmpty)
            #expect(rest.outbox.map { $0.json?.text("status") } == ["sent"])
        }
    }

    @Test func `a sweep leaves a send whose verification is locked, and takes the others`() async throws {
        try await LedgerDatabase.with { database in
            let claims = try await LedgerWorker(database.ledger()).claims(3)
            try await database.lapseSends()
            async let holder: Void = database.play(Self.hold(Self.row(claims[0])))
            try await database.waitForHolders()
            let swept = try await database.ledger().sweepSends(capacity: 10)
            #expect(Set(swept.value.map(\.id)) == Set(claims[1...].map(\.id)))
            try await Self.release(database)
            try await holder
            #expect(try await database.ledger().sweepSends(capacity: 10).value.map(\.id) == [claims[0].id])
        }
    }

    @Test func `behind a locked table results are recorded before a sweep calls them unknown`() async throws {
        try await LedgerDatabase.with { database in
            let ledger = database.ledger()
            let claims = try await LedgerWorker(ledger).claims(2)
            _ = try await ledger.markDispatching(claims)
            let results = claims.map { SendResult($0, .sent) }
            async let holder: Void = database.play(Self.hold("LOCK TABLE courier.verification IN SHARE MODE"))
            try await database.waitForHolders()
            let error = await #expect(throws: PostgresError.self) { try await ledger.record(results) }
            #expect(error?.isContention == true)
            try await database.lapseSends()
            try await Self.release(database)
            try await holder
            // By a worker that met the lock, too.
            #expect(try await ledger.sweepSends(capacity: 10).outbox.isEmpty)
            let recorded = try await ledger.record(results)
            #expect(recorded.outbox.map { $0.json?.text("status") } == ["sent", "sent"])
        }
    }

    @Test func `what a worker learned too late waits for its locked send, and no other result does`() async throws {
        try await LedgerDatabase.with { database in
            let worker = LedgerWorker(database.ledger())
            let late = try await worker.claim(1)
            _ = try await worker.ledger.markDispatching([late])
            try await database.lapseSends()
            try await worker.publish(try await worker.ledger.sweepSends(capacity: 10))
            let other = try await worker.claim(2)

            let lock = "SELECT FROM courier.send WHERE state = 'unknown' FOR UPDATE"
            async let holder: Void = database.play(Self.hold(lock))
            try await database.waitForHolders()
            let recorded = try await worker.ledger.record([.init(late, .sent), .init(other, .sent)])
            #expect(recorded.outbox.map { $0.json?.text("status") } == ["sent"])
            #expect(recorded.value.map(\.send.id) == [late.id])
            try await Self.release(database)
            try await holder
            #expect(try await worker.ledger.record(recorded.value).value.isEmpty)
            #expect(try await database.count("SELECT count(provider_message_id) FROM courier.send") == 2)
        }
    }
}
