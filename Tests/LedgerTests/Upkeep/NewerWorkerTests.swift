// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing
import Verification

@testable import Ledger

/// Tests rows with a purpose that only newer workers know.
@Suite struct NewerWorkerTests {
    private static let written = "UPDATE courier.verification SET purpose = 'of_later', due_at = clock_timestamp()"

    @Test func `a request of a person whose row this version cannot read waits, and no other does`() async throws {
        try await LedgerDatabase.with { database in
            let worker = LedgerWorker(database.ledger())
            let claim = try await worker.claim(0)
            try await worker.publish(try await worker.settle([claim], .sent))
            try await database.script(Self.written)

            let records = [InboundRecord].people(2, round: 1, at: try await worker.now())
            for _ in 0..<2 {
                let both = try await worker.candidates(records)
                let decided = try await worker.decided(both)
                #expect(decided.value.waiting.map(\.place) == [both[0].place])
            }
            #expect(try await database.count("SELECT count(*) FROM courier.send") == 2)

            try await database.script("UPDATE courier.verification SET purpose = 'sign_in'")
            #expect(try await worker.decided(try await worker.candidates(records)).value.waiting.isEmpty)
        }
    }

    @Test func `such a row stops no sweep, no result and no receipt of others`() async throws {
        try await LedgerDatabase.with { database in
            let worker = LedgerWorker(database.ledger())
            let claims = try await worker.claims(4)
            _ = try await worker.ledger.markDispatching(claims)
            let newer = claims[0].reference.verificationID
            try await database.script("\(Self.written), sequence = sequence + 1 WHERE id = '\(newer)'")

            // 1. Outcomes.
            let recorded = try await worker.ledger.record([.init(claims[0], .sent), .init(claims[1], .sent)])
            #expect(recorded.value.waiting.map(\.send.id) == [claims[0].id])
            #expect(recorded.outbox.map(\.stream) == [claims[1].reference.verificationID.uuid])
            try await worker.publish(recorded)

            // 2. Receipts.
            let receipts = claims[..<2].map { ReceivedReceipt(.of($0, .delivered)) }
            let received = try await worker.ledger.receive(receipts, deadLetters: [])
            #expect(received.outbox.map(\.stream) == [claims[1].reference.verificationID.uuid])
            try await worker.publish(received)

            // 3. Sweeps.
            try await database.lapseSends()
            let swept = try await worker.ledger.sweepSends(capacity: 10)
            try await worker.publish(swept)
            #expect(Set(swept.outbox.map(\.stream)) == Set(claims[2...].map(\.reference.verificationID.uuid)))
            try await database.script("UPDATE courier.verification SET expires_at = now(), due_at = now()")
            let expired = try await worker.ledger.sweepExpired().outbox.map(\.stream)
            #expect(!expired.isEmpty && !expired.contains(newer.uuid))
        }
    }
}
