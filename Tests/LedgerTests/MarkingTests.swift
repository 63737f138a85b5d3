// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing
import Verification

/// Claims, marked just before their calls.
@Suite struct MarkingTests {
    @Test func `claims in time are marked, and marking them again says the same`() async throws {
        try await LedgerDatabase.with { database in
            let worker = LedgerWorker(database.ledger())
            let claims = try await worker.claims(3)
            let ids = Set(claims.map(\.id))

            #expect(try await worker.ledger.markDispatching(claims) == ids)
            #expect(try await worker.ledger.markDispatching(claims) == ids)
            #expect(try await database.count("SELECT count(*) FROM courier.send WHERE state = 'dispatching'") == 3)
        }
    }

    @Test(arguments: [
        "deadline = clock_timestamp()",
        "lease_until = clock_timestamp() + interval '14 seconds'",
        "fence = fence + 1",
        "state = 'pending'",
        "state = 'unknown', lease_until = NULL",
    ])
    func `a claim that is late, half over, taken over or settled is not marked`(change: String) async throws {
        try await LedgerDatabase.with { database in
            let worker = LedgerWorker(database.ledger(lease: .seconds(30)))
            let claims = try await worker.claims(2)
            let late = try #require(claims.first)
            try await database.script("UPDATE courier.send SET \(change) WHERE id = '\(late.id)'")
            let before = try await database.text("SELECT send::text FROM courier.send WHERE id = $1", [.uuid(late)])

            #expect(try await worker.ledger.markDispatching(claims) == [try #require(claims.last).id])
            let after = try await database.text("SELECT send::text FROM courier.send WHERE id = $1", [.uuid(late)])
            #expect(after == before)
        }
    }

    @Test func `a claim with a little more than half of its lease left is marked`() async throws {
        try await LedgerDatabase.with { database in
            let worker = LedgerWorker(database.ledger(lease: .seconds(60)))
            let claims = try await worker.claims()
            try await database.script("UPDATE courier.send SET lease_until = clock_timestamp() + interval '45 seconds'")
            #expect(try await worker.ledger.markDispatching(claims).count == 1)
        }
    }
}
