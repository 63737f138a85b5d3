// SPDX-License-Identifier: Apache-2.0

import Administration
import Formats
import Ledger
import TestSupport
import Testing
import Verification

@Suite struct OutcomeTests {
    @Test func `a receipt is told once however often it comes, and never before its send`() async throws {
        try await LedgerDatabase.with { database in
            let worker = LedgerWorker(database.ledger())
            let claim = try await worker.claim()
            _ = try await worker.ledger.markDispatching([claim])
            #expect(try await worker.ledger.record([.init(claim, .delivered)]).outbox.isEmpty)
            let sent = try await worker.settle([claim], .sent)
            #expect(sent.outbox.count == 1)
            try await worker.publish(sent)
            let window = try await database.text("SELECT resend_after::text FROM courier.verification")
            let told = try await worker.ledger.record([.init(claim, .delivered)]).outbox

            #expect(told.map { $0.json?.text("status") } == ["delivered"])
            #expect(told.map(\.sequence) == [2])
            try await worker.ledger.published(told)
            #expect(try await worker.ledger.record([.init(claim, .delivered)]).outbox.isEmpty)
            #expect(try await worker.ledger.record([.init(claim, .sent)]).outbox.isEmpty)
            #expect(try await database.text("SELECT state FROM courier.send") == "delivered")
            #expect(try await database.text("SELECT resend_after::text FROM courier.verification") == window)
        }
    }

    @Test func `requests that wait for an open send get its outcome, too, from whichever worker`() async throws {
        try await LedgerDatabase.with { database in
            let worker = LedgerWorker(database.ledger())
            let now = try await worker.now()
            let records = (1...3).map { InboundRecord.request(id: "r\($0)", offset: Int64($0), at: now) }
            let both = try await worker.intake(Array(records[..<2]))
            let third = try await worker.intake([records[2]])
            var told = both.outbox + third.outbox
            try await database.lapseSends()
            let taken = try await worker.ledger.sweepSends(capacity: 10).value
            #expect(taken.map(\.id) == both.value.map(\.id))
            told += try await worker.settle(taken, .failed(.providerUnavailable)).outbox
            let events = try await worker.ledger.publishAll(told).compactMap(\.json)
            #expect(events.map { $0.text("requestId") } == ["r2", "r3", "r1", "r2", "r3"])
            #expect(events.map { $0.text("status") } == ["suppressed", "suppressed", "failed", "failed", "failed"])
            #expect(try await database.count("SELECT count(*) FROM courier.verification WHERE waiting IS NULL") == 1)
        }
    }

    @Test func `a resend knows the providers that have had a message of its verification`() async throws {
        try await LedgerDatabase.with { database in
            let worker = LedgerWorker(database.ledger())
            let first = try await worker.claim()
            #expect(first.usedProviders == [])
            try await worker.publish(try await worker.settle([first], .sent))
            #expect(try await database.text("SELECT used_providers FROM courier.verification") == "main")
            try await database.script("UPDATE courier.verification SET resend_after = clock_timestamp()")
            let again = try await worker.intake(.people(1, round: 1, at: try await worker.now())).value
            #expect(again.map(\.usedProviders) == [["main"]])

            try await worker.ledger.release(again)
            let swept = try await worker.ledger.sweepSends(capacity: 1).value
            #expect(swept.map(\.usedProviders) == [["main"]])
        }
    }

    @Test func `a resend knows the provider at which the person has opted out`() async throws {
        try await LedgerDatabase.with { database in
            let worker = LedgerWorker(database.ledger())
            let first = try await worker.claim()
            #expect(first.optedOutAt == nil)
            try await worker.publish(try await worker.settle([first], .failed(.optedOut)))
            #expect(try await database.text("SELECT used_providers FROM courier.verification") == "!main")
            try await database.script("UPDATE courier.verification SET resend_after = clock_timestamp()")
            let again = try await worker.intake(.people(1, round: 1, at: try await worker.now())).value
            #expect(again.map(\.optedOutAt) == ["main"] && again.map(\.usedProviders) == [[]])

            try await worker.ledger.release(again)
            let swept = try await worker.ledger.sweepSends(capacity: 1).value
            #expect(swept.map(\.optedOutAt) == ["main"])
        }
    }

    @Test(arguments: Settled.all) func `an outcome settles send, verification and event`(
        expected: Settled
    ) async throws {
        try await LedgerDatabase.with { database in
            let worker = LedgerWorker(database.ledger())
            let claim = try await worker.claim()
            try await database.script(
                """
                UPDATE courier.verification
                SET expires_at = clock_timestamp() + interval '200 s', resend_after = clock_timestamp() - interval '9 s'
                """
            )
            let recorded = try await worker.settle([claim], expected.disposition)

            #expect(recorded.outbox.map(\.sequence) == [1])
            let event = try #require(recorded.outbox.first?.json)
            #expect(event.text("status") == expected.status)
            #expect(event.text("reason") == expected.reason)
            #expect(event.text("verificationId") == claim.reference.verificationID.description)
            #expect(recorded.outbox.first?.key == Array(claim.reference.verificationID.description.utf8))
            #expect(
                try await database.text(
                    """
                    SELECT concat_ws(' ', state, attempts, provider, provider_message_id, segments, encoding, parcel.id)
                    FROM courier.send LEFT JOIN courier.parcel ON true
                    """
                ) == "\(expected.sendState) 1 main SM1 1 GSM-7"
            )
            #expect(try await database.text(Settled.verification) == expected.verification)
        }
    }

    @Test func `a retry waits, a long delay is told, and its verification stays open`() async throws {
        try await LedgerDatabase.with { database in
            let worker = LedgerWorker(database.ledger())
            let claims = try await worker.claims()
            let recorded = try await worker.settle(claims, .retry(after: .seconds(5)))

            #expect(recorded.outbox.map { $0.json?.text("reason") } == ["send_pending"])
            #expect(recorded.outbox.map(\.sequence) == [1])
            #expect(
                try await database.text(
                    """
                    SELECT concat_ws(' ', state, attempts,
                        lease_until - clock_timestamp() BETWEEN interval '3 s' AND interval '5 s')
                    FROM courier.send JOIN courier.parcel ON sends = ARRAY[send.id] AND fences = ARRAY[fence]
                    """
                ) == "pending 1 t"
            )
            #expect(
                try await database.text(
                    "SELECT concat_ws(' ', sequence, sends_used, send_open, status) FROM courier.verification"
                ) == "1 1 t"
            )
            #expect(try await worker.ledger.sweepSends(capacity: 10).value.isEmpty)
        }
    }

    @Test func `a repeated code does not live longer by being sent again`() async throws {
        try await LedgerDatabase.with { database in
            let worker = LedgerWorker(database.ledger())
            let first = try await worker.claim()
            try await worker.publish(try await worker.settle([first], .sent))
            try await database.script(
                """
                UPDATE courier.verification
                SET expires_at = clock_timestamp() + interval '200 s', resend_after = clock_timestamp() - interval '1 s'
                """
            )
            let again = try await worker.intake(.people(1, round: 1, at: try await worker.now())).value
            let expiry = try await database.text("SELECT expires_at::text FROM courier.verification")
            let recorded = try await worker.settle(again, .sent)

            #expect(again.first?.code == first.code)
            #expect(again.first?.reference.number == 2)
            #expect(recorded.outbox.map(\.sequence) == [2])
            #expect(try await database.text("SELECT expires_at::text FROM courier.verification") == expiry)
        }
    }

    @Test(arguments: [true, false])
    func `a late answer of the holder settles what a sweep called unknown, with an id or without`(
        hasID: Bool
    ) async throws {
        try await LedgerDatabase.with { database in
            let worker = LedgerWorker(database.ledger())
            let claim = try await worker.claim()
            _ = try await worker.ledger.markDispatching([claim])
            try await database.lapseSends()
            try await worker.publish(try await worker.ledger.sweepSends(capacity: 10))
            let after = try await database.text("SELECT resend_after::text FROM courier.verification")
            let late = SendResult(
                send: claim.reference,
                disposition: .sent,
                attempts: 1,
                attempt: .init(
                    provider: "main",
                    messageID: hasID ? "SM9" : nil,
                    segments: 1,
                    encoding: "GSM-7",
                    errorCode: nil
                ),
                verification: claim.verification
            )
            let told = try await worker.ledger.record([late])
            #expect(told.outbox.map { $0.json?.text("status") } == ["sent"])
            #expect(told.outbox.map(\.sequence) == [2])
            let state = try await database.text(
                "SELECT concat_ws(' ', state, provider, provider_message_id) FROM courier.send"
            )
            #expect(state == (hasID ? "sent main SM9" : "sent main"))
            #expect(try await database.text("SELECT resend_after::text FROM courier.verification") == after)
            #expect(try await worker.ledger.record([late]).outbox.isEmpty)
            #expect(EventContract.violations(in: told.outbox) == [])
        }
    }

    @Test func `a late refusal gives the send back, and leaves the window of a later one`() async throws {
        try await LedgerDatabase.with { database in
            let worker = LedgerWorker(database.ledger())
            let claims = try await worker.claims(2)
            _ = try await worker.ledger.markDispatching(claims)
            try await database.lapseSends()
            try await worker.publish(try await worker.ledger.sweepSends(capacity: 10))
            try await database.script("UPDATE courier.verification SET resend_after = '-infinity'")
            let again = try await worker.intake(.people(1, round: 1, at: try await worker.now())).value
            #expect(again.count == 1)
            let told = try await worker.ledger.record(claims.map { .init($0, .failed(.providerRefused)) })
            #expect(told.outbox.map { $0.json?.text("status") } == ["failed", "failed"])
            let rows = try await database.texts(
                """
                SELECT concat_ws(' ', sends_used, send_open, status, resend_after > clock_timestamp())
                FROM courier.verification ORDER BY sends_used DESC
                """
            )
            // The first verification has another send in flight.
            #expect(rows == ["1 t unknown t", "0 f failed f"])
        }
    }

    @Test func `a late answer changes nothing of a send that was claimed anew or settled by a receipt`() async throws {
        try await LedgerDatabase.with { database in
            let worker = LedgerWorker(database.ledger())
            let claims = try await worker.claims(2)
            _ = try await worker.ledger.markDispatching(claims)
            try await database.lapseSends()
            try await worker.publish(try await worker.ledger.sweepSends(capacity: 10))
            try await database.script("UPDATE courier.send SET fence = 2 WHERE id = '\(claims[0].id)'")
            let receipt = ReceivedReceipt(.of(claims[1], .undelivered))
            _ = try await worker.ledger.receive([receipt], deadLetters: [])
            let told = try await worker.ledger.record(claims.map { .init($0, .sent) })
            #expect(told.outbox.isEmpty)
            #expect(
                try await database.texts("SELECT state FROM courier.send ORDER BY state") == ["undelivered", "unknown"]
            )
        }
    }

    @Test func `a result counts once, however often it is recorded`() async throws {
        try await LedgerDatabase.with { database in
            let worker = LedgerWorker(database.ledger())
            let claims = try await worker.claims(3)
            #expect(try await worker.settle(claims, .sent).outbox.count == 3)
            let before = try await database.texts("SELECT v::text FROM courier.verification v ORDER BY v.id")

            #expect(try await worker.settle(claims, .sent).outbox.isEmpty)
            #expect(try await worker.settle(claims, .failed(.providerUnavailable)).outbox.isEmpty)
            #expect(try await database.count("SELECT count(*) FROM courier.unpublished") == 3)
            #expect(try await database.texts("SELECT v::text FROM courier.verification v ORDER BY v.id") == before)
        }
    }

    @Test func `a worker whose claim was taken over can change nothing, and the new one can`() async throws {
        try await LedgerDatabase.with { database in
            let worker = LedgerWorker(database.ledger())
            let old = try await worker.claims()
            try await database.lapseSends()
            let new = try await worker.ledger.sweepSends(capacity: 10).value
            #expect(new.map(\.reference.fence) == [2])

            #expect(try await worker.ledger.markDispatching(old).isEmpty)
            #expect(try await worker.ledger.record(old.map { .init($0, .sent) }).outbox.isEmpty)
            try await worker.ledger.release(old)
            #expect(try await database.text("SELECT concat_ws(' ', state, fence) FROM courier.send") == "claimed 2")

            #expect(try await worker.settle(new, .sent).outbox.count == 1)
            #expect(try await worker.ledger.record(old.map { .init($0, .unknown(.timeout)) }).outbox.isEmpty)
            #expect(try await database.text("SELECT state FROM courier.send") == "sent")
            #expect(try await database.count("SELECT count(*) FROM courier.unpublished") == 1)
        }
    }

    @Test func `of two claims of one send only the newer one is settled, also in one batch`() async throws {
        try await LedgerDatabase.with { database in
            let worker = LedgerWorker(database.ledger())
            let lost = try await worker.claim()
            try await database.lapseSends()
            let held = try #require(try await worker.ledger.sweepSends(capacity: 1).value.first)
            let results = [SendResult(lost, .failed(.providerRefused)), SendResult(held, .sent)]
            let told = try await worker.ledger.record(results).outbox
            #expect(told.map { $0.json?.text("status") } == ["sent"])
            #expect(try await database.text("SELECT state FROM courier.send") == "sent")
        }
    }

    @Test func `a released claim is due at once, marked or not, and one that is taken over is not released`()
        async throws
    {
        try await LedgerDatabase.with { database in
            let worker = LedgerWorker(database.ledger())
            let claims = try await worker.claims(3)
            _ = try await worker.ledger.markDispatching(Array(claims[..<1]))
            try await database.script("UPDATE courier.send SET fence = fence + 1 WHERE id = '\(claims[2].id)'")
            try await worker.ledger.release(claims)

            let swept = try await worker.ledger.sweepSends(capacity: 10).value
            #expect(Set(swept.map(\.id)) == Set(claims[..<2].map(\.id)))
            #expect(swept.allSatisfy { $0.reference.fence == 3 })
        }
    }

    @Test func `an outcome after the approval is told and keeps the verification ended`() async throws {
        try await LedgerDatabase.with { database in
            let worker = LedgerWorker(database.ledger())
            let claim = try await worker.claim()
            _ = try await worker.ledger.markDispatching([claim])
            #expect(try await Verifier.test(database.pool).check(claim).status == .approved)
            let expiry = try await database.text("SELECT expires_at::text FROM courier.verification")
            let recorded = try await worker.settle([claim], .sent)

            #expect(recorded.outbox.first?.json?.text("status") == "sent")
            #expect(
                try await database.text(
                    "SELECT concat_ws(' ', state, send_open, sealed IS NULL, ended_at IS NULL) FROM courier.verification"
                ) == "approved f t f"
            )
            #expect(try await database.text("SELECT expires_at::text FROM courier.verification") == expiry)
        }
    }
}
