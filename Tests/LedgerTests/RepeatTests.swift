// SPDX-License-Identifier: Apache-2.0

import Ledger
import TestSupport
import Testing
import Verification

/// `worker.unknownOutcome: resend_once`.
@Suite struct RepeatTests {
    private func ledger(_ database: LedgerDatabase) -> PostgresLedger {
        PostgresLedger(
            pool: database.pool,
            keys: KeySource(.test),
            settings: .init(source: "/test", repeatsUnknown: true)
        )
    }

    @Test func `a send whose worker died while dispatching is handed over once more, with the same code`()
        async throws
    {
        try await LedgerDatabase.with { database in
            let worker = LedgerWorker(ledger(database))
            let claim = try await worker.claim()
            _ = try await worker.ledger.markDispatching([claim], tried: [claim.claim: ["first", "second"]])
            try await database.lapseSends()
            let again = try await worker.ledger.sweepSends(capacity: 10)

            #expect(again.outbox.isEmpty)
            let taken = try #require(again.value.first)
            #expect(taken.repetition == Repetition(reason: .workerLost, triedProviders: ["first", "second"]))
            #expect(taken.code == claim.code)
            #expect(taken.reference == claim.reference.reclaimed)
            #expect(try await worker.ledger.record([.init(claim, .sent)]).outbox.isEmpty)

            _ = try await worker.ledger.markDispatching([taken])
            try await database.lapseSends()
            let last = try await worker.ledger.sweepSends(capacity: 10)
            #expect(last.value.isEmpty)
            #expect(last.outbox.map { $0.json?.text("status") } == ["unknown"])
        }
    }

    @Test func `a mark that names no provider leaves open which one has the message, whatever was marked before`()
        async throws
    {
        try await LedgerDatabase.with { database in
            let worker = LedgerWorker(ledger(database))
            let claim = try await worker.claim()
            _ = try await worker.ledger.markDispatching([claim], tried: [claim.claim: ["first"]])
            _ = try await worker.ledger.markDispatching([claim])
            try await database.lapseSends()
            let taken = try #require(try await worker.ledger.sweepSends(capacity: 10).value.first)
            #expect(taken.repetition == Repetition(reason: .workerLost, triedProviders: nil))
        }
    }

    @Test func `the provider that may have a message counts as used, whoever takes the repeat`() async throws {
        try await LedgerDatabase.with { database in
            let worker = LedgerWorker(ledger(database))
            let claim = try await worker.claim()
            _ = try await worker.ledger.markDispatching([claim], tried: [claim.claim: ["first"]])
            try await database.lapseSends()
            let taken = try #require(try await worker.ledger.sweepSends(capacity: 10).value.first)
            _ = try await worker.ledger.markDispatching([taken], tried: [taken.claim: ["first"]])
            let attempt = SendResult.Attempt(
                provider: "second",
                messageID: "SM1",
                segments: 1,
                encoding: "GSM-7",
                errorCode: nil
            )
            let result = SendResult(
                send: taken.reference,
                disposition: .sent,
                attempts: 2,
                attempt: attempt,
                doubtful: taken.repetition?.doubtful
            )
            _ = try await worker.ledger.record([result])
            #expect(try await database.text("SELECT used_providers FROM courier.verification") == "first second")
        }
    }

    @Test func `an answer that was lost is repeated once, and a repeat that comes too late stays unknown`()
        async throws
    {
        try await LedgerDatabase.with { database in
            let worker = LedgerWorker(ledger(database))
            let claims = try await worker.claims(2)
            let tried = Dictionary(uniqueKeysWithValues: claims.map { ($0.claim, ["main"]) })
            _ = try await worker.ledger.markDispatching(claims, tried: tried)
            let results = claims.map { SendResult($0, .repeatOnce) }
            #expect(try await worker.ledger.record(results).outbox.isEmpty)
            let due = try await worker.ledger.sweepSends(capacity: 1).value
            #expect(due.map(\.repetition) == [Repetition(reason: .timeout, triedProviders: ["main"])])

            try await database.script("UPDATE courier.send SET deadline = clock_timestamp() WHERE state = 'pending'")
            let late = try await worker.ledger.sweepSends(capacity: 10)
            #expect(late.value.isEmpty)
            #expect(late.outbox.map { $0.json?.text("status") } == ["unknown"])
        }
    }
}
