// SPDX-License-Identifier: Apache-2.0

import Administration
import Formats
import Ledger
import PostgresClient
import Synchronization
import TestSupport
import TestTools
import Testing
import Verification

@Suite struct SweepTests {
    @Test func `a claim whose lease ran out is taken over with the same code, recipient and deadline`() async throws {
        try await LedgerDatabase.with { database in
            let worker = LedgerWorker(database.ledger())
            let claim = try await worker.claim()
            #expect(try await worker.ledger.sweepSends(capacity: 10).value.isEmpty)
            try await database.lapseSends()
            let swept = try await worker.ledger.sweepSends(capacity: 10)

            #expect(swept.outbox.isEmpty)
            let taken = try #require(swept.value.first)
            #expect(taken.reference == claim.reference.reclaimed)
            #expect(taken.code == claim.code)
            #expect(taken.recipient == claim.recipient)
            #expect(taken.deadline == claim.deadline)
            #expect(taken.rendering.json == claim.rendering.json)
            #expect(taken.validityLeft <= claim.validityLeft)
            #expect(try await worker.ledger.sweepSends(capacity: 10).value.isEmpty)
        }
    }

    @Test func `what is taken over knows its request and its trace, be it the first send or a later one`() async throws
    {
        try await LedgerDatabase.with { database in
            let worker = LedgerWorker(database.ledger())
            for round in 1...2 {
                try await database.script("UPDATE courier.verification SET resend_after = '-infinity'")
                let request = InboundRecord.request(
                    id: "r\(round)",
                    offset: Int64(round),
                    at: try await worker.now(),
                    more: #","subject":"user-1""#
                )
                let trace = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b\(round)-01"
                let traced = InboundRecord(
                    topic: request.topic,
                    partition: request.partition,
                    offset: request.offset,
                    timestamp: request.timestamp,
                    key: request.key,
                    value: request.value,
                    headers: [RecordField("traceparent", trace)]
                )
                let claim = try #require(try await worker.intake([traced]).value.first)
                try await database.lapseSends()
                let taken = try #require(try await worker.ledger.sweepSends(capacity: 10).value.first)
                #expect(taken.reference == claim.reference.reclaimed)
                #expect(taken.reference.requestID == "r\(round)" && taken.reference.trace?.traceparent == trace)
                try await worker.publish(try await worker.settle([taken], .sent))
                let receipt = ReceivedReceipt(.of(taken, .delivered))
                let told = try await worker.ledger.receive([receipt], deadLetters: []).outbox
                #expect(told.map { $0.json?.text("requestId") } == ["r\(round)"])
                #expect(told.map { $0.json?.text("subject") } == ["user-1"])
                try await worker.ledger.published(told)
            }
        }
    }

    @Test func `a send whose worker died while dispatching becomes unknown, once, and is not sent again`()
        async throws
    {
        try await LedgerDatabase.with { database in
            let worker = LedgerWorker(database.ledger())
            let claims = try await worker.claims(5)
            _ = try await worker.ledger.markDispatching(claims)
            try await database.lapseSends()
            let sweeps = try await inParallel(8) { _ in try await worker.ledger.sweepSends(capacity: 10) }

            #expect(sweeps.flatMap(\.value).isEmpty)
            let events = sweeps.flatMap(\.outbox).compactMap(\.json)
            #expect(events.count == 5)
            #expect(events.allSatisfy { $0.text("status") == "unknown" && $0.text("reason") == "worker_lost" })
            #expect(Set(events.map { $0.text("verificationId") }).count == 5)
            #expect(try await database.count("SELECT count(*) FROM courier.send WHERE state = 'unknown'") == 5)
            try await database.script("UPDATE courier.verification SET resend_after = '-infinity'")
            let again = try await worker.intake(.people(1, round: 1, at: try await worker.now())).value
            #expect(again.map(\.code) == [try #require(claims.first).code])
        }
    }

    @Test func `behind an outage a send is first left to its holder, who knows what became of it`() async throws {
        try await LedgerDatabase.with { database in
            try await database.withPool(connections: 1) { pool in
                let worker = LedgerWorker(database.ledger(on: pool))
                let claims = try await worker.claims(2)
                _ = try await worker.ledger.markDispatching(claims)
                try await database.lapseSends()
                // The next use finds the connection closed and opens a new one, as after a restart of the server.
                try? await pool.withSession { try $0.script("SELECT pg_terminate_backend(pg_backend_pid())") }
                let early = try await worker.ledger.sweepSends(capacity: 10)
                #expect(early.value.isEmpty && early.outbox.isEmpty)

                let recorded = try await worker.ledger.record([SendResult(claims[0], .sent)])
                #expect(recorded.outbox.compactMap { $0.json?.text("status") } == ["sent"])
                let late = try await eventually("the other one is settled after a while") {
                    let swept = try await worker.ledger.sweepSends(capacity: 10)
                    return swept.outbox.isEmpty ? nil : swept.outbox
                }
                #expect(late.compactMap { $0.json?.text("status") } == ["unknown"])
            }
        }
    }

    @Test func `a retry is claimed when it is due, with its attempts`() async throws {
        try await LedgerDatabase.with { database in
            let worker = LedgerWorker(database.ledger())
            let claims = try await worker.claims()
            // The event of the long delay is published before that of the outcome.
            try await worker.publish(try await worker.settle(claims, .retry(after: .seconds(30))))
            #expect(try await worker.ledger.sweepSends(capacity: 10).value.isEmpty)
            try await database.lapseSends()
            let due = try await worker.ledger.sweepSends(capacity: 10).value

            #expect(due.map(\.attempts) == [1])
            #expect(due.map(\.reference.fence) == [3])
            #expect(try await worker.settle(due, .sent).outbox.count == 1)
        }
    }

    @Test func `a retry is claimed with the providers that refused it, over however many claims`() async throws {
        try await LedgerDatabase.with { database in
            let worker = LedgerWorker(database.ledger())
            var claims = try await worker.claims()
            let rounds: [(refusers: [String], known: [String])] = [
                (["a", "b"], ["a", "b"]), ([], ["a", "b"]), (["a", "b", "c"], ["a", "b", "c"]),
            ]
            for (refusers, known) in rounds {
                let result = SendResult(
                    send: claims[0].reference,
                    disposition: .retry(after: .zero),
                    attempts: 1,
                    attempt: nil,
                    refusers: refusers
                )
                _ = try await worker.ledger.record([result])
                try await database.lapseSends()
                claims = try await worker.ledger.sweepSends(capacity: 10).value
                #expect(claims.map(\.refusers) == [known])
            }
        }
    }

    @Test func `a retry is claimed with the provider that it waited for`() async throws {
        try await LedgerDatabase.with { database in
            let worker = LedgerWorker(database.ledger())
            let claims = try await worker.claims()
            #expect(claims.map(\.retryProvider) == [nil])
            let attempt = SendResult.Attempt(
                provider: "b",
                messageID: nil,
                segments: nil,
                encoding: nil,
                errorCode: "429"
            )
            let result = SendResult(
                send: claims[0].reference,
                disposition: .retry(after: .zero),
                attempts: 1,
                attempt: attempt
            )
            _ = try await worker.ledger.record([result])
            try await database.lapseSends()
            #expect(try await worker.ledger.sweepSends(capacity: 10).value.map(\.retryProvider) == ["b"])
        }
    }

    @Test(arguments: [
        "UPDATE courier.send SET deadline = clock_timestamp()",
        "UPDATE courier.send SET deadline = clock_timestamp(), state = 'pending'",
        "UPDATE courier.verification SET state = 'approved', ended_at = clock_timestamp(), sealed = NULL",
    ])
    func `what is too late or of an ended verification is answered and never sent`(change: String) async throws {
        try await LedgerDatabase.with { database in
            let worker = LedgerWorker(database.ledger())
            _ = try await worker.claims()
            try await database.lapseSends()
            try await database.script(change)
            let swept = try await worker.ledger.sweepSends(capacity: 10)

            #expect(swept.value.isEmpty)
            #expect(swept.outbox.map { $0.json?.text("status") } == ["expired_unsent"])
            #expect(
                try await database.text("SELECT concat_ws(' ', state, fence) FROM courier.send") == "failed 1"
            )
            #expect(
                try await database.text("SELECT concat_ws(' ', sends_used, send_open) FROM courier.verification")
                    == "0 f"
            )
            #expect(try await worker.ledger.sweepSends(capacity: 10).outbox.isEmpty)
        }
    }

    @Test func `a recipient whose seal's key is gone is told as failed`() async throws {
        try await LedgerDatabase.with { database in
            _ = try await LedgerWorker(database.ledger()).claims()
            try await database.lapseSends()
            let keys = CodeKeys(code: .test(1), hash: .test(2), fingerprint: .test(3), seal: .test(5, id: 2))
            let swept = try await database.ledger(keys: keys).sweepSends(capacity: 10)

            #expect(swept.value.isEmpty)
            #expect(swept.outbox.map { $0.json?.text("reason") } == ["provider_unavailable"])
        }
    }

    @Test func `a send that other keys would give another code fails, and its ledger is told`() async throws {
        try await LedgerDatabase.with { database in
            let claim = try #require(try await LedgerWorker(database.ledger()).claims().first)
            try await database.lapseSends()
            let told = Mutex<[CodeMismatch]>([])
            let ledger = PostgresLedger(
                pool: database.pool,
                keys: KeySource(CodeKeys(code: .test(9), hash: .test(2), fingerprint: .test(3), seal: .test(4))),
                settings: .test
            ) { mismatch in told.withLock { $0.append(mismatch) } }
            let swept = try await ledger.sweepSends(capacity: 10)

            #expect(swept.value.isEmpty)
            #expect(swept.outbox.map { $0.json?.text("reason") } == ["provider_unavailable"])
            let expected = CodeMismatch(send: claim.reference, codeKey: KeyID(1), hashKey: KeyID(1))
            #expect(told.withLock(\.self) == [expected])
        }
    }

    @Test func `a sweep claims no more than its capacity and leaves the rest due`() async throws {
        try await LedgerDatabase.with { database in
            let worker = LedgerWorker(database.ledger())
            let claims = try await worker.claims(10)
            let dispatching = Array(claims.prefix(2))
            _ = try await worker.ledger.markDispatching(dispatching)
            try await database.lapseSends()

            let none = try await worker.ledger.sweepSends(capacity: 0)
            #expect(none.value.isEmpty)
            #expect(none.outbox.count == 2)
            let some = try await worker.ledger.sweepSends(capacity: 3).value
            let rest = try await worker.ledger.sweepSends(capacity: 100).value
            #expect(some.count == 3)
            #expect(Set((some + rest).map(\.id)) == Set(claims.dropFirst(2).map(\.id)))
            #expect((some + rest).allSatisfy { $0.reference.fence == 2 })
        }
    }

    @Test(.timeLimit(.minutes(5))) func `parallel sweepers never take the same send`() async throws {
        try await LedgerDatabase.with(connections: 8) { database in
            let worker = LedgerWorker(database.ledger())
            let claims = try await worker.claims(500) + worker.claims(500, from: 500)
            #expect(claims.count == 1000)
            try await database.lapseSends()
            let sweeper = database.ledger(sweepSize: 25)
            let taken = try await inParallel(32) { _ in
                var taken: [ClaimedSend] = []
                while true {
                    try Task.checkCancellation()
                    let claims = try await sweeper.sweepSends(capacity: 1000).value
                    if claims.isEmpty { return taken }
                    taken += claims
                }
            }

            #expect(taken.joined().count == 1000)
            #expect(Set(taken.joined().map(\.id)).count == 1000)
            #expect(taken.joined().allSatisfy { $0.reference.fence == 2 })
        }
    }
}

extension LedgerDatabase {
    /// Expires every lease and every retry delay.
    func lapseSends() async throws {
        try await script("UPDATE courier.parcel SET lease_until = clock_timestamp() - interval '1 s'")
    }
}

/// Runs the same work in parallel tasks, and returns all results.
func inParallel<Result: Sendable>(
    _ tasks: Int,
    _ work: @escaping @Sendable (Int) async throws -> Result
) async throws -> [Result] {
    try await withThrowingTaskGroup(of: Result.self) { group in
        for index in 0..<tasks {
            group.addTask { try await work(index) }
        }
        return try await group.reduce(into: []) { $0.append($1) }
    }
}
