// SPDX-License-Identifier: Apache-2.0

import Ledger
import TestSupport
import Testing
import Verification

@Suite struct BacklogTests {
    @Test func `what is due and what is unpublished is counted`() async throws {
        try await LedgerDatabase.with { database in
            let ledger = database.ledger()
            let worker = LedgerWorker(ledger)
            #expect(try await ledger.backlog() == Backlog(dueSends: 0, outbox: 0))
            let claims = try await worker.claims(3)
            // Claimed sends are not due.
            #expect(try await ledger.backlog() == Backlog(dueSends: 0, outbox: 0))
            try await ledger.release(Array(claims.prefix(2)))
            #expect(try await ledger.backlog() == Backlog(dueSends: 2, outbox: 0))
            _ = try await worker.settle(Array(claims.suffix(1)), .sent)
            #expect(try await ledger.backlog() == Backlog(dueSends: 2, outbox: 1))
        }
    }
}
