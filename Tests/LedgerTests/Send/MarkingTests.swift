// SPDX-License-Identifier: Apache-2.0

import Ledger
import TestSupport
import Testing
import Verification

/// Tests the marking of claims as dispatching, just before their provider calls.
@Suite struct MarkingTests {
    @Test func `claims in time are marked, and marking them again says the same`() async throws {
        try await LedgerDatabase.with { database in
            let worker = LedgerWorker(database.ledger())
            let claims = try await worker.claims(3)
            let marked = Set(claims.map(\.claim))

            #expect(try await worker.ledger.markDispatching(claims) == marked)
            #expect(try await worker.ledger.markDispatching(claims) == marked)
            #expect(try await database.count("SELECT count(*) FROM courier.send WHERE state = 'dispatching'") == 3)
        }
    }

    @Test(arguments: [
        "deadline = clock_timestamp()",
        "fence = fence + 1",
        "state = 'pending'",
        "state = 'unknown'",
    ])
    func `a claim that is late, taken over or settled is not marked`(change: String) async throws {
        try await LedgerDatabase.with { database in
            let worker = LedgerWorker(database.ledger(lease: .seconds(30)))
            let claims = try await worker.claims(2)
            let late = try #require(claims.first)
            try await database.script("UPDATE courier.send SET \(change) WHERE id = '\(late.id)'")
            let before = try await database.text("SELECT send::text FROM courier.send WHERE id = $1", [.uuid(late)])

            #expect(try await worker.ledger.markDispatching(claims) == [try #require(claims.last).claim])
            let after = try await database.text("SELECT send::text FROM courier.send WHERE id = $1", [.uuid(late)])
            #expect(after == before)
        }
    }

    @Test func `of two claims of one send only the newer one is marked`() async throws {
        try await LedgerDatabase.with { database in
            let worker = LedgerWorker(database.ledger())
            let lost = try await worker.claims()
            try await database.lapseSends()
            let held = try await worker.ledger.sweepSends(capacity: 1).value
            #expect(held.map(\.id) == lost.map(\.id))
            #expect(try await worker.ledger.markDispatching(lost + held) == Set(held.map(\.claim)))
        }
    }

    @Test func `a claim whose lease is half over, or gone, is not marked`() async throws {
        try await LedgerDatabase.with { database in
            let worker = LedgerWorker(database.ledger(lease: .seconds(30)))
            let (half, gone) = (try await worker.claims(2), try await worker.claims(2, from: 2))
            try await database.script(
                """
                UPDATE courier.parcel SET lease_until = clock_timestamp() + interval '14 seconds'
                WHERE '\(half[0].id)' = ANY (sends);
                DELETE FROM courier.parcel WHERE '\(gone[0].id)' = ANY (sends)
                """
            )
            let rest = try await worker.claims(1, from: 4)
            #expect(try await worker.ledger.markDispatching(half + gone + rest) == Set(rest.map(\.claim)))
        }
    }

    @Test func `a claim with a little more than half of its lease left is marked`() async throws {
        try await LedgerDatabase.with { database in
            let worker = LedgerWorker(database.ledger(lease: .seconds(60)))
            let claims = try await worker.claims()
            try await database.script("UPDATE courier.parcel SET lease_until = clock_timestamp() + interval '45 s'")
            #expect(try await worker.ledger.markDispatching(claims).count == 1)
        }
    }
}
