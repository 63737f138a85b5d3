// SPDX-License-Identifier: Apache-2.0

import Formats
import TestSupport
import TestTools
import Testing
import Verification

@testable import Ledger
@testable import PostgresClient

/// Tests which work waits for a row or table that another transaction locks, and which work continues.
@Suite(.timeLimit(.minutes(5))) struct LockedRowTests {
    /// Takes a lock and keeps it until `release` is called.
    static func hold(_ lock: String) -> String {
        let released = LedgerDatabase.waiting(for: "SELECT FROM pg_class WHERE relname = 'released'")
        return "BEGIN; \(lock); SELECT pg_advisory_xact_lock(1); \(released) COMMIT;"
    }

    static func release(_ database: LedgerDatabase) async throws {
        try await database.script("CREATE TABLE public.released ()")
    }

    /// The rows that each request of the claimed person needs.
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

            // The locked people's requests again in other records, and requests of other people.
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
            #expect(ContinuousClock.now - start < .seconds(8))
            #expect(recorded.value.waiting.map(\.key.requestID) == ["p0-0"])
            #expect(recorded.value.sends.count == 3)
            #expect(recorded.outbox.map { $0.json?.text("reason") } == ["duplicate_request", "duplicate_request"])

            // Later batches try the locked row without waiting for it.
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

    /// Inserts a row in a table, in a transaction that stays open.
    private static func insert(_ table: String, _ key: LimitKey) -> String {
        switch table {
        case "person":
            "INSERT INTO courier.person (key, kept_until, slots, entries) VALUES ('\(key.digest)', 'infinity', '', '')"
        default:
            "INSERT INTO courier.limit_window (key, expires_at, entries) VALUES ('\(key.digest)', 'infinity', '')"
        }
    }

    @Test(arguments: ["person", "limit_window"])
    func `a key that another transaction has not committed keeps the request waiting that needs it, and no other`(
        table: String
    ) async throws {
        try await LedgerDatabase.with { database in
            let worker = LedgerWorker(database.ledger(), policy: .counting)
            let candidates = try await worker.candidates(.people(3, round: 1, at: try await worker.now()))
            let scope = table == "person" ? LimitKey.Scope.recipient : .ip
            let limits = try #require(candidates[0].possibleOutcomes.first).limits
            let person = try #require(limits.first { $0.scope == scope })
            async let holder: Void = database.script(Self.hold(Self.insert(table, person)))
            try await database.waitForHolders()
            let recorded = try await worker.decided(candidates)
            #expect(recorded.value.waiting.map(\.key.requestID) == ["p0-1"])
            #expect(recorded.value.sends.map(\.reference.requestID) == ["p1-1", "p2-1"])
            let shortest = try await quickest {
                let next = try await worker.decided([candidates[0]])
                #expect(next.value.waiting.count == 1)
            }
            #expect(shortest < .milliseconds(500))
            try await Self.release(database)
            try await holder
        }
    }

    @Test func `of a batch that another worker has not committed every request waits, and strangers are decided`()
        async throws
    {
        try await LedgerDatabase.with { database in
            let worker = LedgerWorker(database.ledger(), policy: .counting)
            let now = try await worker.now()
            let lock = """
                INSERT INTO courier.request (day, key, digest, record_offset, record_partition, record_topic)
                SELECT (statement_timestamp() AT TIME ZONE 'UTC')::date, courier.request_key('default', 'p' || n || '-0'),
                    gen_random_uuid(), 0, 0, 0
                FROM generate_series(0, 299) n
                """
            async let holder: Void = database.play(Self.hold(lock))
            try await database.waitForHolders()
            let candidates = try await worker.candidates(.people(320, at: now))
            let start = ContinuousClock.now
            let recorded = try await worker.decided(candidates)
            // A wait of 100 ms for each locked row would take 30 s.
            #expect(ContinuousClock.now - start < .seconds(15))
            #expect(recorded.value.waiting.map(\.place) == candidates.prefix(300).map(\.place))
            #expect(recorded.value.sends.count == 20)
            try await Self.release(database)
            try await holder
        }
    }

    @Test func `a conflict at a tenant's gate sets nobody aside`() async throws {
        try await LedgerDatabase.with { database in
            let worker = LedgerWorker(database.ledger(), policy: .counting)
            _ = try await worker.claims(1)
            async let holder: Void = database.script(Self.hold("SELECT FROM courier.tenant_gate FOR UPDATE"))
            try await database.waitForHolders()
            let candidates = try await worker.candidates(.people(2, from: 1, at: try await worker.now()))
            let error = await #expect(throws: PostgresError.self) { try await worker.decided(candidates) }
            #expect(error?.isLockConflict == true)
            #expect(worker.ledger.heldRows.isEmpty)
            try await Self.release(database)
            try await holder
            #expect(try await worker.decided(candidates).value.sends.count == 2)
        }
    }

    @Test func `a row that another transaction holds each time is waited for, and one that the same keeps is not`()
        throws
    {
        let key: UInt128 = 7
        let rows = HeldRows()
        rows.note(LockedKeys(holders: [key: 100, 8: LockedKeys.inserting], now: .test))
        let same = rows.stillHeld(LockedKeys(holders: [key: 100, 8: LockedKeys.inserting], now: .test), of: [])
        #expect(same.holders == [key: 100, 8: LockedKeys.inserting])
        #expect(rows.stillHeld(LockedKeys(holders: [key: 101], now: .test), of: []).holders.isEmpty)
    }

    @Test func `a session that stands still in the middle of a transaction is ended, and what it locks is free`()
        async throws
    {
        try await LedgerDatabase.with { database in
            let worker = LedgerWorker(database.ledger())
            _ = try await worker.claim()
            // The pipeline sends BEGIN and a lock, and never the rest of its transaction.
            let configuration = PostgresConfiguration(url: database.url, applicationName: "half")
            let half = try ConnectionHandle.connect(ConnectionKeywords(configuration))
            var isSent = half.enterPipeline()
            for statement in [Statement("BEGIN"), Statement("SELECT FROM courier.verification FOR UPDATE")] {
                isSent = isSent && half.send(statement, named: nil)
            }
            isSent = isSent && half.flush(silence: .seconds(10))
            #expect(isSent)
            try await eventually("it stands still") {
                try await database.count(
                    """
                    SELECT count(*) FROM pg_stat_activity
                    WHERE application_name = 'half' AND state = 'active' AND wait_event = 'ClientRead'
                        AND query LIKE '%verification%'
                    """
                ) == 1
            }
            let later = try await worker.candidates(.people(1, round: 1, at: try await worker.now()))
            #expect(try await worker.decided(later).value.waiting.count == 1)
            #expect(try await worker.ledger.endStalledSessions() == 0, "it may be slow")
            #expect(try await worker.ledger.endStalledSessions(after: .zero) == 1)
            try await eventually("its locks are gone") { try await worker.decided(later).value.waiting.isEmpty }
            withExtendedLifetime(half) {}
        }
    }

    @Test func `a receipt that another worker has not committed waits, and the others are settled and kept`()
        async throws
    {
        try await LedgerDatabase.with { database in
            let worker = LedgerWorker(database.ledger())
            let claims = try await worker.claims(2)
            try await worker.publish(try await worker.settle([claims[0]], .sent))
            let strays = (1...2).map { offset in
                let stray = Receipt(
                    provider: "main",
                    sendID: nil,
                    providerMessageID: "stray\(offset)",
                    status: .delivered,
                    reason: nil,
                    errorCode: nil
                )
                return ReceivedReceipt(stray, in: .request(id: "s\(offset)", offset: Int64(offset), at: .test))
            }
            let lock = """
                INSERT INTO courier.receipt (id, provider, status, sealed, seal_key, received_at, tries, due_at)
                VALUES ('\(strays[0].id)', 'main', 'delivered', '', 0, now(), 0, now())
                """
            async let holder: Void = database.script(Self.hold(lock))
            try await database.waitForHolders()
            let receipts = [ReceivedReceipt(.of(claims[0], .delivered))] + strays
            let told = try await worker.ledger.receive(receipts, deadLetters: [])
            #expect(told.value.waiting.map(\.id) == [strays[0].id])
            #expect(told.outbox.map { $0.json?.text("status") } == ["delivered"])
            #expect(try await database.count("SELECT count(*) FROM courier.receipt") == 1)
            try await Self.release(database)
            try await holder
            #expect(try await worker.ledger.receive([strays[0]], deadLetters: []).value.waiting.isEmpty)
            #expect(try await database.count("SELECT count(*) FROM courier.receipt") == 2)
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
            // The send exists, so the receipt stays however long it has waited.
            try await database.script(
                "UPDATE courier.receipt SET due_at = clock_timestamp(), received_at = received_at - interval '2 hours'"
            )
            let swept = try await worker.ledger.sweepReceipts()
            #expect(swept.value == 1 && swept.outbox.isEmpty)
            #expect(ContinuousClock.now - start < .seconds(8))

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
            #expect(try await ledger.markDispatching(claims) == [claims[0].claim, claims[2].claim])
            #expect(ContinuousClock.now - start < .seconds(8))
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
            #expect(ContinuousClock.now - start < .milliseconds(900), "it waits no second with the others in hand")
            #expect(recorded.value.waiting.map(\.send.id) == [claims[0].id])
            #expect(Set(recorded.outbox.map(\.stream)) == Set(claims[1...].map(\.reference.verificationID.uuid)))
            let extended = try await database.count(
                "SELECT count(*) FROM courier.parcel WHERE lease_until > clock_timestamp() + interval '20 s'"
            )
            #expect(extended == 1)

            try await Self.release(database)
            try await holder
            let rest = try await ledger.record(recorded.value.waiting)
            #expect(rest.value.waiting.isEmpty)
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
            // The worker that met the lock does not sweep these sends either.
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
            #expect(recorded.value.waiting.map(\.send.id) == [late.id])
            try await Self.release(database)
            try await holder
            #expect(try await worker.ledger.record(recorded.value.waiting).value.waiting.isEmpty)
            #expect(try await database.count("SELECT count(provider_message_id) FROM courier.send") == 2)
        }
    }
}
