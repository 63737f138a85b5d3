// SPDX-License-Identifier: Apache-2.0

import Administration
import Formats
import PostgresClient
import TestSupport
import Testing

@testable import Ledger
@testable import Verification

/// Tests the events that `courier.check_code` writes with `events.approved`.
@Suite struct ApprovedEventTests {
    @Test func `by default the verifier's function writes no event`() async throws {
        try await withVerifier(publishesApproved: false) { database, worker, verifier in
            let claims = try await worker.claims(2)
            try await worker.publish(try await worker.settle(claims, .sent))
            #expect(try await verifier.check(claims[0]).status == .approved)
            for code in claims[1].wrongCodes(5) { _ = try await verifier.check(claims[1], code: code) }
            #expect(try await database.count("SELECT count(*) FROM courier.unpublished") == 0)
            let rows = try await database.texts(
                "SELECT concat_ws(' ', state, status, sequence) FROM courier.verification ORDER BY state"
            )
            #expect(rows == ["approved sent 1", "locked sent 1"])
        }
    }

    @Test func `an approval has one event, and later guesses none`() async throws {
        try await withVerifier { database, worker, verifier in
            let claim = try await worker.claim()
            try await worker.publish(try await worker.settle([claim], .sent))
            _ = try await verifier.check(claim, code: claim.wrongCodes(1)[0])
            #expect(try await worker.ledger.sweepOutbox().isEmpty)
            #expect(try await verifier.check(claim).status == .approved)
            #expect(try await verifier.check(claim).status == .alreadyApproved)

            let events = try await worker.ledger.publishAll(try await worker.ledger.sweepOutbox())
            #expect(events.map(\.sequence) == [2])
            #expect(events.map(\.eventID) == ["\(claim.reference.verificationID.uuid)-2"])
            #expect(events.map { $0.json?.text("status") } == ["approved"])
            #expect(EventContract.violations(in: events) == [])
            #expect(try await database.count("SELECT count(*) FROM courier.unpublished") == 0)
        }
    }

    @Test func `the guess that locks has one event, and the end comes after it`() async throws {
        try await withVerifier { database, worker, verifier in
            let claim = try await worker.claim()
            try await worker.publish(try await worker.settle([claim], .sent))
            for code in claim.wrongCodes(7) { _ = try await verifier.check(claim, code: code) }
            try await database.script("UPDATE courier.verification SET expires_at = now(), due_at = now()")
            let expired = try await worker.ledger.sweepExpired().outbox
            #expect(expired.isEmpty, "it waits behind an unpublished event")

            let events = try await worker.ledger.publishAll(try await worker.ledger.sweepOutbox())
            #expect(events.map(\.sequence) == [2, 3])
            #expect(events.map { $0.json?.text("status") } == ["locked", "expired"])
            #expect(EventContract.violations(in: events) == [])
        }
    }

    @Test(arguments: [
        "region = 'US'", "subject = NULL", "channel = 'email', region = NULL", "fictional = true",
        "channel = 'apns', purpose = 'app_verification', region = NULL, code_length = NULL",
        "sends_used = 5", "sends_used = 6", "sequence = 41", "generation = 3",
        "expires_at = '2031-02-03 04:05:06.000999+00', resend_after = '2031-02-03 04:05:06.999999+00'",
        #"subject = U&'a"b\\c/\2028d\2029e\00e9\+01F511<&>', request_id = U&'r-"\\-\00fc\2028'"#,
        #"policy_version = U&'v "1" \2029', masked = U&'\00e4***@***', tenant = 'a.b-c_d'"#,
    ])
    func `the event is byte for byte the one that a worker would write`(change: String) async throws {
        try await withVerifier { database, worker, _ in
            let claim = try await worker.claim()
            try await worker.publish(try await worker.settle([claim], .sent))
            try await database.script(
                "UPDATE courier.verification SET subject = 'user-1', code_hash = sha256('right')"
            )
            try await database.script(
                "UPDATE courier.verification SET \(change)"
            )
            try await guess(claim, settings: Self.hostile, database)

            let record = try #require(try await worker.ledger.sweepOutbox().first)
            #expect(EventContract.violations(in: [record]) == [])
            let row = try await worker.verification(claim)
            #expect(row.state == .approved && row.status == .approved && row.reason == nil)
            let time = try #require(record.json?.text("occurredAt").flatMap { Timestamp(rfc3339: $0) })
            let expected = DeliveryEvent(
                of: row,
                requestID: row.requestID,
                subject: row.subject,
                status: .approved,
                policyVersion: row.policyVersion,
                occurredAt: time
            ).record(source: EventSource(WorkerSettings().source, at: time))
            #expect(
                String(decoding: record.value ?? [], as: UTF8.self)
                    == String(decoding: expected.value ?? [], as: UTF8.self)
            )
            #expect(record.headers == expected.headers)
            #expect(record == expected)
            let endedAt = try await database.text(
                "SELECT (ended_at >= now() - interval '1 h')::text FROM courier.verification"
            )
            #expect(endedAt == "true")
        }
    }

    /// Settings of a caller's session that change how PostgreSQL reads and writes text.
    private static let hostile = """
        SET standard_conforming_strings = off; SET escape_string_warning = off; SET bytea_output = escape;
        SET TimeZone = 'Asia/Kathmandu'; SET DateStyle = 'SQL, DMY'; SET IntervalStyle = sql_standard;
        SET search_path = ''; SET synchronous_commit = off; SET client_encoding = 'UTF8'; SET array_nulls = off;
        SET transform_null_equals = on; SET quote_all_identifiers = on; SET lc_time = 'C'; SET xmloption = document
        """

    @Test func `an event whose number may be published is on disk, whatever the caller's session prefers`() async throws
    {
        try await withVerifier { database, worker, _ in
            for (own, kept) in [("off", "on"), ("local", "local"), ("on", "on"), ("remote_apply", "remote_apply")] {
                let claim = try await worker.claim(own.utf8.count)
                try await database.script("UPDATE courier.verification SET code_hash = sha256('right')")
                let setting = try await guess(claim, settings: "SET synchronous_commit = \(own)", database)
                #expect(setting == kept, "with \(own)")
            }
        }
    }

    @Test func `a guess that is rolled back has no event`() async throws {
        try await withVerifier { database, worker, verifier in
            let claim = try await worker.claim()
            try await database.script("UPDATE courier.verification SET code_hash = sha256('right')")
            try await guess(claim, settings: "", database, ending: "ROLLBACK")
            #expect(try await database.count("SELECT count(*) FROM courier.unpublished") == 0)
            try await guess(claim, settings: "", database)
            #expect(try await database.count("SELECT count(*) FROM courier.unpublished") == 1)
        }
    }

    @Test func `of parallel right guesses one has an event`() async throws {
        try await withVerifier(connections: 8) { database, worker, verifier in
            let claim = try await worker.claim()
            let answers = try await inParallel(100) { _ in try await verifier.check(claim).status }
            #expect(answers.count { $0 == .approved } == 1)
            #expect(try await database.count("SELECT count(*) FROM courier.outbox") == 1)
        }
    }

    @Test func `it waits for the message's event, and comes before one that is recorded later`() async throws {
        try await withVerifier { database, worker, verifier in
            let claims = try await worker.claims(2)
            let sent = try await worker.settle([claims[0]], .sent)
            for claim in claims { #expect(try await verifier.check(claim).status == .approved) }
            let early = try await worker.ledger.sweepOutbox()
            #expect(early.map(\.stream) == [claims[1].reference.verificationID.uuid])
            #expect(early.map(\.sequence) == [1])

            let late = try await worker.settle([claims[1]], .sent)
            #expect(late.outbox.isEmpty, "it waits behind the approval")
            let events = try await worker.ledger.publishAll(sent.outbox + early)
            let statuses = Dictionary(grouping: events, by: \.stream).mapValues { $0.map { $0.json?.text("status") } }
            #expect(statuses[claims[0].reference.verificationID.uuid] == ["sent", "approved"])
            #expect(statuses[claims[1].reference.verificationID.uuid] == ["approved", "sent"])
            let stored = try await database.texts("SELECT status FROM courier.verification")
            #expect(stored == ["approved", "approved"])
        }
    }

    @Test func `a receipt that comes later is told, and a repeated request still gets the approval`() async throws {
        try await withVerifier { _, worker, verifier in
            let asked = try await worker.now()
            let claim = try #require(try await worker.intake(.people(1, at: asked)).value.first)
            try await worker.publish(try await worker.settle([claim], .sent))
            #expect(try await verifier.check(claim).status == .approved)
            let told = try await worker.ledger.receive([ReceivedReceipt(.of(claim, .delivered))], deadLetters: [])
            let repeated = InboundRecord.raw(
                String(decoding: [InboundRecord].people(1, at: asked)[0].value ?? [], as: UTF8.self),
                offset: 9,
                partition: 1,
                at: asked
            )
            let again = try await worker.intake([repeated])
            let handedOver = told.outbox + again.outbox
            #expect(handedOver.isEmpty, "both wait behind the approval")
            let events = try await worker.ledger.publishAll(try await worker.ledger.sweepOutbox())
            #expect(events.map { $0.json?.text("status") } == ["approved", "delivered", "approved"])
            #expect(events.last?.json?.text("reason") == "duplicate_request")
        }
    }

    @Test func `after a standby took over its id names the timeline`() async throws {
        try await withVerifier { database, worker, verifier in
            try await database.script("CREATE OR REPLACE FUNCTION courier.timeline() RETURNS integer RETURN 3")
            let claim = try await worker.claim()
            #expect(try await verifier.check(claim).status == .approved)
            let events = try await worker.ledger.sweepOutbox()
            #expect(events.map(\.eventID) == ["\(claim.reference.verificationID.uuid)-1-3"])
        }
    }

    @Test func `the worker that starts last decides, and says so if it changed something`() async throws {
        try await LedgerDatabase.with { database in
            try await database.withLogin(granted: "courier_worker") { pool in
                var answers: [Bool] = []
                for value in [false, true, true, false, true] {
                    answers.append(try await EventSetting.set(approved: value, pool))
                }
                #expect(answers == [false, true, false, true, true])
                #expect(try await database.text("SELECT approved::text FROM courier.event_setting") == "true")
            }
        }
    }

    /// Checks the right guess in a transaction of a session with these settings; returns its `synchronous_commit`.
    @discardableResult
    private func guess(
        _ claim: ClaimedSend,
        settings: String,
        _ database: LedgerDatabase,
        ending: String = "COMMIT"
    ) async throws -> String {
        try await database.withPool(connections: 1) { pool in
            try await pool.withSession { session in
                try session.script("\(settings); BEGIN")
                let statement: StaticString = """
                    SELECT c.status FROM courier.check_code($1, pg_catalog.sha256('right'),
                        (SELECT v.fingerprint FROM courier.verification v WHERE v.id = $1)) AS c
                    """
                let status = try session.execute(Statement(statement, [.verification(of: claim)])).onlyRow.text(0)
                #expect(status == "approved")
                let setting = try session.execute(Statement("SELECT current_setting('synchronous_commit')")).onlyRow
                try session.script(ending)
                return try setting.text(0)
            }
        }
    }

    private func withVerifier(
        publishesApproved: Bool = true,
        connections: Int = 2,
        _ body: (LedgerDatabase, LedgerWorker, Verifier) async throws -> Void
    ) async throws {
        try await LedgerDatabase.with { database in
            _ = try await EventSetting.set(approved: publishesApproved, database.pool)
            try await database.withLogin(granted: "courier_verifier", connections: connections) { pool in
                try await body(database, LedgerWorker(database.ledger()), Verifier.test(pool))
            }
        }
    }
}

extension LedgerWorker {
    /// The row of a send's verification.
    fileprivate func verification(_ claim: ClaimedSend) async throws -> StoredVerification {
        let id = claim.reference.verificationID
        let rows = try await ledger.pool.withSession { try $0.execute(PostgresLedger.lockVerifications([id])) }
        return try #require(try PostgresLedger.verifications(rows)[id])
    }
}
