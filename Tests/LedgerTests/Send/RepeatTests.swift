// SPDX-License-Identifier: Apache-2.0

import Formats
import Ledger
import TestSupport
import Testing
import Verification

/// Tests `worker.unknownOutcome: resend_once`.
@Suite struct RepeatTests {
    private func ledger(_ database: LedgerDatabase) -> PostgresLedger {
        PostgresLedger(
            pool: database.pool,
            keys: KeySource(.test),
            settings: .test { $0.unknownOutcome = .resendOnce }
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

    /// A send whose first worker was interrupted, and which another worker has claimed for a second provider call.
    private func repeated(
        _ worker: LedgerWorker,
        _ database: LedgerDatabase
    ) async throws -> (
        first: ClaimedSend, second: ClaimedSend
    ) {
        let first = try await worker.claim()
        _ = try await worker.ledger.markDispatching([first], tried: [first.claim: ["main"]])
        try await database.lapseSends()
        return (first, try #require(try await worker.ledger.sweepSends(capacity: 10).value.first))
    }

    private static let row: StaticString = """
        SELECT concat_ws(' ', s.state, s.provider_message_id, v.send_open, v.sends_used, v.status)
        FROM courier.send s JOIN courier.verification v ON v.id = s.verification_id
        """

    @Test(arguments: [true, false], [SendDisposition.sent, .failed(.optedOut)])
    func `what the first holder learned before the repeat was marked settles the send, and no repeat leaves`(
        isHandedBack: Bool,
        disposition: SendDisposition
    ) async throws {
        try await LedgerDatabase.with { database in
            let worker = LedgerWorker(ledger(database))
            let (first, second) = try await repeated(worker, database)
            if isHandedBack { _ = try await worker.ledger.record([.init(second, .retry(after: .zero))]) }
            let told = try await worker.ledger.record([.init(first, disposition)])
            #expect(EventContract.violations(in: told.outbox) == [])
            let settled = disposition == .sent ? "sent SM1 f 1 sent" : "failed SM1 f 0 failed"
            #expect(try await database.texts(Self.row) == [settled])
            #expect(try await worker.ledger.markDispatching([second]).isEmpty)
            try await worker.ledger.release([second])
            #expect(try await worker.ledger.sweepSends(capacity: 10).value.isEmpty)
            #expect(try await database.texts(Self.row) == [settled])
            #expect(try await database.text("SELECT string_agg(rendering, '') FROM courier.send") == "")
        }
    }

    @Test
    func `once the repeat may have left, the first holder's acceptance settles the send and its refusal does not`()
        async throws
    {
        try await LedgerDatabase.with { database in
            let worker = LedgerWorker(ledger(database))
            let (first, second) = try await repeated(worker, database)
            _ = try await worker.ledger.markDispatching([second])
            let refusal = try await worker.ledger.record([.init(first, .failed(.providerRefused))])
            #expect(refusal.outbox.isEmpty && refusal.value.settled.isEmpty)
            let told = try await worker.ledger.record([.init(first, .sent)])
            #expect(told.outbox.map { $0.json?.text("status") } == ["sent"])
            #expect(try await worker.ledger.record([.init(second, .unknown(.workerLost))]).outbox.isEmpty)
            #expect(try await database.texts(Self.row) == ["sent SM1 f 1 sent"])
        }
    }

    @Test func `an acceptance that comes after the repeat settles what that left unknown, and nothing else`()
        async throws
    {
        try await LedgerDatabase.with { database in
            let worker = LedgerWorker(ledger(database))
            let (first, second) = try await repeated(worker, database)
            try await worker.publish(try await worker.settle([second], .unknown(.workerLost)))
            #expect(try await worker.ledger.record([.init(first, .failed(.providerRefused))]).outbox.isEmpty)
            let told = try await worker.ledger.record([.init(first, .sent)])
            #expect(told.outbox.map { $0.json?.text("status") } == ["sent"])
            #expect(told.outbox.map(\.sequence) == [2])
            try await worker.publish(told)
            #expect(try await worker.ledger.record([.init(first, .sent), .init(second, .sent)]).outbox.isEmpty)
            #expect(try await database.texts(Self.row) == ["sent SM1 f 1 sent"])
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
