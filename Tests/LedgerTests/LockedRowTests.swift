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

    private static func row(_ claim: ClaimedSend) -> String {
        "SELECT FROM courier.verification WHERE id = '\(claim.reference.verificationID)' FOR UPDATE"
    }

    @Test func `a locked verification delays its own result only, whose lease is extended`() async throws {
        try await LedgerDatabase.with { database in
            let ledger = database.ledger()
            let claims = try await LedgerWorker(ledger).claims(3)
            _ = try await ledger.markDispatching(claims)
            try await database.script("UPDATE courier.send SET lease_until = clock_timestamp() + interval '5 s'")
            async let holder: Void = database.script(Self.hold(Self.row(claims[0])))
            try await database.waitForHolder()

            let start = ContinuousClock.now
            let recorded = try await ledger.record(claims.map { .init($0, .sent) })
            #expect(ContinuousClock.now - start < .seconds(2))
            #expect(recorded.value.map(\.send.id) == [claims[0].id])
            #expect(Set(recorded.outbox.map(\.stream)) == Set(claims[1...].map(\.reference.verificationID.uuid)))
            let extended = try await database.count(
                "SELECT count(*) FROM courier.send WHERE lease_until > clock_timestamp() + interval '20 s'"
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
            try await database.script("UPDATE courier.send SET lease_until = clock_timestamp() - interval '1 s'")
            async let holder: Void = database.script(Self.hold(Self.row(claims[0])))
            try await database.waitForHolder()
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
            async let holder: Void = database.script(Self.hold("LOCK TABLE courier.verification IN SHARE MODE"))
            try await database.waitForHolder()
            let error = await #expect(throws: PostgresError.self) { try await ledger.record(results) }
            #expect(error?.isContention == true)
            try await database.script("UPDATE courier.send SET lease_until = clock_timestamp() - interval '1 s'")
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
            try await database.script("UPDATE courier.send SET lease_until = clock_timestamp() - interval '1 second'")
            try await worker.publish(try await worker.ledger.sweepSends(capacity: 10))
            let other = try await worker.claim(2)

            let lock = "SELECT FROM courier.send WHERE state = 'unknown' FOR UPDATE"
            async let holder: Void = database.script(Self.hold(lock))
            try await database.waitForHolder()
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
