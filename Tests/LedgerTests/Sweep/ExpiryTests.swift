// SPDX-License-Identifier: Apache-2.0

import Administration
import Formats
import Ledger
import PostgresClient
import TestSupport
import TestTools
import Testing
import Verification

@Suite struct ExpiryTests {
    @Test func `a verification that ran out is told once by parallel sweepers, and its recipient erased`()
        async throws
    {
        try await LedgerDatabase.with(connections: 8) { database in
            let worker = LedgerWorker(database.ledger())
            try await worker.publish(try await worker.settle(try await worker.claims(100), .sent))
            #expect(try await worker.ledger.sweepExpired().outbox.isEmpty)
            try await database.script("UPDATE courier.verification SET expires_at = now(), due_at = now()")
            let sweeper = database.ledger(sweepSize: 30)
            let events = try await inParallel(8) { _ in
                var events: [OutboxRecord] = []
                for _ in 0..<5 { events += try await sweeper.sweepExpired().outbox }
                return events
            }.flatMap(\.self)
            let left = try await worker.ledger.sweepExpired().outbox

            #expect((events + left).count == 100)
            #expect((events + left).allSatisfy { $0.sequence == 2 && $0.json?.text("status") == "expired" })
            #expect(Set((events + left).map(\.stream)).count == 100)
            #expect(try await worker.ledger.sweepExpired().outbox.isEmpty)
            #expect(
                try await database.count(
                    """
                    SELECT count(*) FROM courier.verification
                    WHERE state = 'expired' AND sealed IS NULL AND ended_at IS NOT NULL AND sequence = 2
                    """
                ) == 100
            )
        }
    }

    @Test func `a locked verification expires too, an approved one never`() async throws {
        try await LedgerDatabase.with { database in
            let worker = LedgerWorker(database.ledger())
            let claims = try await worker.claims(2)
            try await worker.publish(try await worker.settle(claims, .sent))
            let verifier = Verifier.test(database.pool)
            let (approved, locked) = (try #require(claims.first), try #require(claims.last))
            #expect(try await verifier.check(approved).status == .approved)
            for code in locked.wrongCodes(5) { _ = try await verifier.check(locked, code: code) }
            try await database.script("UPDATE courier.verification SET expires_at = now(), due_at = now()")
            let swept = try await worker.ledger.sweepExpired().outbox

            #expect(swept.map(\.stream) == [locked.reference.verificationID.uuid])
            let states = try await database.texts("SELECT state FROM courier.verification ORDER BY state")
            #expect(states == ["approved", "expired"])
            #expect(try await database.count("SELECT count(*) FROM courier.verification WHERE sealed IS NOT NULL") == 0)
        }
    }

    @Test(arguments: [("pending", "failed"), ("claimed", "failed"), ("dispatching", "unknown")])
    func `a send whose verification is gone is settled, and nobody told`(state: String, outcome: String) async throws {
        try await LedgerDatabase.with { database in
            let worker = LedgerWorker(database.ledger())
            _ = try await worker.claim()
            try await database.script("DELETE FROM courier.verification; UPDATE courier.send SET state = '\(state)'")
            try await database.lapseSends()
            let swept = try await worker.ledger.sweepSends(capacity: 10)
            #expect(swept.value.isEmpty && swept.outbox.isEmpty)
            #expect(try await database.text("SELECT state FROM courier.send") == outcome)
            #expect(try await database.count("SELECT count(*) FROM courier.parcel") == 0)
        }
    }

    @Test func `a verification does not expire while a send of it is open`() async throws {
        try await LedgerDatabase.with { database in
            let worker = LedgerWorker(database.ledger())
            let claim = try await worker.claim()
            _ = try await worker.ledger.markDispatching([claim])
            try await database.script("UPDATE courier.verification SET expires_at = now(), due_at = now()")
            #expect(try await worker.ledger.sweepExpired().outbox.isEmpty)
            try await worker.publish(try await worker.settle([claim], .unknown(.timeout)))
            let swept = try await worker.ledger.sweepExpired().outbox
            #expect(swept.map { $0.json?.text("status") } == ["expired"])
        }
    }

    @Test func `what lives longer than at first is looked at again at its end`() async throws {
        try await LedgerDatabase.with { database in
            let worker = LedgerWorker(database.ledger())
            try await worker.publish(try await worker.settle(try await worker.claims(2), .sent))
            try await database.script("UPDATE courier.verification SET due_at = now()")
            #expect(try await worker.ledger.sweepExpired().outbox.isEmpty)
            let waiting: StaticString = "SELECT count(*) FROM courier.verification WHERE due_at = expires_at"
            #expect(try await database.count(waiting) == 2)
        }
    }

    @Test func `a mark and an outcome write to no index of their rows`() async throws {
        try await LedgerDatabase.with { database in
            let worker = LedgerWorker(database.ledger())
            try await worker.publish(try await worker.settle(try await worker.claims(5), .sent))
            try await eventually("15 changes are counted") {
                try await database.count(
                    """
                    SELECT coalesce(sum(n_tup_upd), 0)::int8 FROM pg_stat_user_tables
                    WHERE relname ~ '^(verification|send)_'
                    """
                ) == 15
            }
            let moved = try await database.texts(
                """
                SELECT relname || ': ' || n_tup_upd - n_tup_hot_upd FROM pg_stat_user_tables
                WHERE relname ~ '^(verification|send)_' AND n_tup_upd > n_tup_hot_upd
                """
            )
            #expect(moved == [])
        }
    }
}
