// SPDX-License-Identifier: Apache-2.0

import Administration
import Formats
import Ledger
import PostgresClient
import TestSupport
import Testing
import Verification

@Suite struct EraseTests {
    @Test func `a verification that was live ends, nothing of it tells its person, and an event says so`()
        async throws
    {
        try await LedgerDatabase.with { database in
            let worker = LedgerWorker(database.ledger(), policy: .counting)
            let claim = try #require(try await worker.intake([.ofSubject(at: try await worker.now())]).value.first)
            try await worker.publish(try await worker.settle([claim], .sent))
            let report = try await database.erase([claim.recipient])

            #expect(report.persons == 1)
            #expect(report.sends == 0)
            #expect(report.verifications == 1)
            #expect(report.cancelled == 1)
            #expect(try await Verifier.test(database.pool).check(claim).status == .expired)
            #expect(try await database.traces(of: claim.recipient, subject: "user-7") == [])
            let told = try await worker.ledger.sweepExpired().outbox
            #expect(told.count == 1)
            let event = try #require(told.first?.json)
            #expect(event.text("status") == "expired")
            #expect(event.text("rule") == "erase")
            #expect(try await database.text("SELECT state FROM courier.verification") == "expired")
        }
    }

    @Test func `a second erasure finds nothing, and no other person is touched`() async throws {
        try await LedgerDatabase.with { database in
            let worker = LedgerWorker(database.ledger(), policy: .counting)
            let claims = try await worker.claims(3)
            _ = try await database.erase([try #require(claims.first).recipient])
            #expect(try await database.erase([try #require(claims.first).recipient]) == Eraser.Report())
            for claim in claims.dropFirst() {
                #expect(try await database.traces(of: claim.recipient) == ["person", "verification"])
            }
            let marked = try await worker.ledger.markDispatching(claims)
            #expect(marked == Set(claims.dropFirst().map(\.claim)))
        }
    }

    @Test func `a message that has not left does not leave, and its request is answered`() async throws {
        try await LedgerDatabase.with { database in
            let worker = LedgerWorker(database.ledger())
            let claims = try await worker.claims(2)
            let (held, returned) = (try #require(claims.first), try #require(claims.last))
            try await worker.ledger.release([returned])
            #expect(try await database.erase(claims.map(\.recipient)).sends == 2)

            #expect(try await worker.ledger.markDispatching(claims) == [])
            try await worker.ledger.release([held])
            let swept = try await worker.ledger.sweepSends(capacity: 10)
            #expect(swept.value.isEmpty)
            #expect(swept.outbox.compactMap { $0.json?.text("status") } == ["expired_unsent", "expired_unsent"])
        }
    }

    @Test func `a message that is on its way ends as it would, and is not handed over again`() async throws {
        try await LedgerDatabase.with { database in
            let worker = LedgerWorker(database.ledger())
            let claims = try await worker.claims(2)
            let (answered, lost) = (try #require(claims.first), try #require(claims.last))
            #expect(try await worker.ledger.markDispatching(claims).count == 2)
            _ = try await database.erase(claims.map(\.recipient))

            let outcome = try await worker.ledger.record([.init(answered, .sent)]).outbox
            #expect(outcome.compactMap { $0.json?.text("status") } == ["sent"])
            _ = try await worker.ledger.record([.init(lost, .retry(after: .zero))])
            let swept = try await worker.ledger.sweepSends(capacity: 10)
            #expect(swept.value.isEmpty)
            #expect(swept.outbox.compactMap { $0.json?.text("status") } == ["expired_unsent"])
            for claim in claims { #expect(try await database.traces(of: claim.recipient) == []) }
        }
    }

    @Test func `the person begins anew, and the erased request is not decided a second time`() async throws {
        try await LedgerDatabase.with { database in
            let worker = LedgerWorker(database.ledger(), policy: .counting)
            let now = try await worker.now()
            let claim = try #require(try await worker.intake(.people(1, at: now)).value.first)
            try await worker.publish(try await worker.settle([claim], .sent))
            _ = try await database.erase([claim.recipient])

            let again = InboundRecord.request(id: "p0-0", phoneNumber: "+4915100000000", offset: 77, at: now)
            let repeated = try await worker.intake([again])
            #expect(repeated.value.isEmpty)
            #expect(repeated.outbox.compactMap { $0.json?.text("reason") } == ["duplicate_request"])
            let fresh = try await worker.intake(.people(1, round: 1, at: now)).value
            #expect(fresh.count == 1)
            #expect(fresh.first?.reference.verificationID != claim.reference.verificationID)
        }
    }

    @Test func `a tenant's erasure leaves the same person's verification of another tenant`() async throws {
        try await LedgerDatabase.with { database in
            let worker = LedgerWorker(database.ledger())
            let claim = try await worker.claim()
            #expect(try await database.erase([claim.recipient], tenant: "other") == Eraser.Report())
            #expect(try await database.erase([claim.recipient], tenant: "default").cancelled == 1)
        }
    }

    @Test func `a rehearsal says the same and changes nothing`() async throws {
        try await LedgerDatabase.with { database in
            let worker = LedgerWorker(database.ledger(), policy: .counting)
            let claim = try await worker.claim()
            let rehearsed = try await database.erase([claim.recipient], isRehearsal: true)
            #expect(try await Verifier.test(database.pool).check(claim).status == .approved)
            #expect(rehearsed.cancelled == 1)
            #expect(try await database.traces(of: claim.recipient) == ["person", "verification"])
            #expect(try await database.erase([claim.recipient]).verifications == rehearsed.verifications)
        }
    }

    @Test(.timeLimit(.minutes(5))) func `an erasure beside the intake of the same people breaks nothing`()
        async throws
    {
        try await LedgerDatabase.with(connections: 8) { database in
            let worker = LedgerWorker(database.ledger(), policy: .counting)
            let recipients = try await worker.claims(20).map(\.recipient)
            let now = try await worker.now()
            await withThrowingTaskGroup(of: Void.self) { group in
                for round in 1...8 {
                    // On a busy machine some requests wait for a lock. The test does not retry them.
                    group.addTask {
                        _ = try await worker.decided(worker.candidates(.people(20, round: round, at: now)))
                    }
                    group.addTask { _ = try await database.erase(recipients) }
                }
                // A deadlock is expected: a worker retries its batch after one.
                while let result = await group.nextResult() {
                    guard case .failure(let error) = result else { continue }
                    #expect((error as? PostgresError)?.isRetriable == true, "\(error)")
                }
            }
            _ = try await database.erase(recipients)
            for recipient in recipients { #expect(try await database.traces(of: recipient) == []) }
            let live = try await database.count("SELECT count(*) FROM courier.verification WHERE state = 'live'")
            #expect(live == 0)
        }
    }

    /// Erases a person while concurrent transactions, which began earlier, commit.
    private func erase(
        _ recipient: Recipient,
        from database: LedgerDatabase,
        beside others: String
    ) async throws -> Eraser.Report {
        async let begun: Void = database.play(others)
        try await database.waitForHolders()
        let report = try await database.erase([recipient])
        try await begun
        return report
    }

    @Test(.timeLimit(.minutes(5))) func `what begins while it searches is erased too, also what has ended again`()
        async throws
    {
        try await LedgerDatabase.with { database in
            let claim = try await LedgerWorker(database.ledger()).claim()
            let report = try await erase(claim.recipient, from: database, beside: Self.beginTwice)
            #expect(report.verifications == 3)
            #expect(report.persons == 1)
            #expect(try await database.traces(of: claim.recipient) == [])
        }
    }

    @Test(.timeLimit(.minutes(5))) func `what begins for another purpose while it searches is erased too`() async throws
    {
        try await LedgerDatabase.with { database in
            let claim = try await LedgerWorker(database.ledger(), policy: .counting).claim()
            let report = try await erase(claim.recipient, from: database, beside: Self.beginForAnotherPurpose)
            #expect(report.verifications == 2)
            #expect(report.persons == 1)
        }
    }

    @Test(.timeLimit(.minutes(5))) func `a person whose first verification begins while it searches is erased too`()
        async throws
    {
        try await LedgerDatabase.with { database in
            let claim = try await LedgerWorker(database.ledger(), policy: .counting).claim()
            let other = Recipient.phone(try #require(PhoneNumber("+4915100000001")))
            let fingerprint = hexadecimal(CodeKeys.test.fingerprint(of: other))
            async let begun: Void = database.play(Self.begin(fingerprint))
            try await database.waitForHolders()
            let report = try await database.erase([claim.recipient, other])
            try await begun
            #expect(report.persons == 2 && report.verifications == 2)
            for recipient in [claim.recipient, other] { #expect(try await database.traces(of: recipient) == []) }
        }
    }

    /// Locks the only person until another session waits for it, and inserts the first verification of another person.
    private static func begin(_ fingerprint: String) -> String {
        """
        BEGIN;
        SELECT FROM courier.person FOR UPDATE;
        SELECT pg_advisory_xact_lock(1);
        \(LedgerDatabase.untilSomebodyWaits)
        INSERT INTO courier.verification
        SELECT (jsonb_populate_record(
            v, jsonb_build_object('id', courier.uuid_floor(clock_timestamp()), 'fingerprint', '\\x\(fingerprint)')
        )).*
        FROM courier.verification v;
        INSERT INTO courier.person (key, kept_until, slots, entries)
        SELECT courier.limit_key('recipient', v.tenant, v.fingerprint), 'infinity', '\\x02'::bytea || uuid_send(v.id), ''
        FROM courier.verification v WHERE v.fingerprint = '\\x\(fingerprint)';
        COMMIT;
        """
    }

    /// Inserts a verification of the only person for a purpose without a slot, and commits when another session waits.
    private static let beginForAnotherPurpose = """
        BEGIN;
        SELECT FROM courier.person FOR UPDATE;
        INSERT INTO courier.verification
        SELECT (jsonb_populate_record(
            v, jsonb_build_object('id', courier.uuid_floor(clock_timestamp()), 'purpose', 'mfa_sign_in')
        )).*
        FROM courier.verification v;
        SELECT pg_advisory_xact_lock(1);
        \(LedgerDatabase.untilSomebodyWaits)
        COMMIT;
        """

    /// Inserts two verifications of the only person, and commits when another session waits.
    ///
    /// The slot names the second verification, whose worker's clock is two hours slow.
    private static let beginTwice = """
        BEGIN;
        SELECT FROM courier.person FOR UPDATE;
        INSERT INTO courier.verification
        SELECT (jsonb_populate_record(
            v, jsonb_build_object('id', courier.uuid_floor(clock_timestamp() - n * interval '2 hours'))
        )).*
        FROM courier.verification v CROSS JOIN generate_series(0, 1) AS n;
        UPDATE courier.person
        SET slots = '\\x02'::bytea || uuid_send((SELECT v.id FROM courier.verification v ORDER BY v.id LIMIT 1));
        SELECT pg_advisory_xact_lock(1);
        \(LedgerDatabase.untilSomebodyWaits)
        COMMIT;
        """

    @Test func `a database from before is to be migrated`() async throws {
        let values = CodeKeys.test.fingerprint.checkValues(as: "fingerprint")
        try await LedgerDatabase.with { database in
            let eraser = Eraser(pool: database.pool)
            try await eraser.checkKeys(values)
            try await database.script("DROP FUNCTION courier.other_keys(text[], smallint[], bytea[])")
            await #expect(throws: Eraser.Refusal.behind) { try await eraser.checkKeys(values) }
            #expect(Eraser.Refusal.behind.description.contains("code-courier migrate"))
        }
        try await LedgerDatabase.empty { database in
            let eraser = Eraser(pool: database.pool)
            await #expect(throws: Eraser.Refusal.behind) { try await eraser.checkKeys(values) }
        }
    }

    @Test func `an operator's login may erase and nothing else`() async throws {
        try await LedgerDatabase.with { database in
            let claim = try await LedgerWorker(database.ledger()).claim()
            let report = try await database.withLogin(granted: "courier_operator") { pool in
                try await Eraser(pool: pool)
                    .erase(fingerprints: [CodeKeys.test.fingerprint(of: claim.recipient)], tenant: nil)
            }
            #expect(report.cancelled == 1)
            await #expect(throws: PostgresError.self) {
                try await database.withLogin(granted: "courier_operator") { pool in
                    try await pool.withSession { try $0.script("SELECT FROM courier.verification") }
                }
            }
        }
    }
}

extension InboundRecord {
    fileprivate static func ofSubject(at time: Timestamp) -> InboundRecord {
        .request(id: "of-subject", purpose: "mfa_sign_in", at: time, more: #","subject":"user-7""#)
    }
}

extension LedgerDatabase {
    fileprivate func erase(
        _ recipients: [Recipient],
        tenant: String? = nil,
        isRehearsal: Bool = false
    ) async throws -> Eraser.Report {
        let fingerprints = recipients.map { CodeKeys.test.fingerprint(of: $0) }
        return try await Eraser(pool: pool)
            .erase(fingerprints: fingerprints, tenant: tenant, isRehearsal: isRehearsal)
    }

    /// The tables with a row that holds the recipient's fingerprint, its masked form or its account, in order.
    fileprivate func traces(of recipient: Recipient, subject: String = "no such account") async throws -> [String] {
        let fingerprint = Parameter.bytes(CodeKeys.test.fingerprint(of: recipient))
        let words = [Parameter.text(recipient.masked), .text(subject)]
        return try await texts(
            """
            SELECT DISTINCT name FROM (
                SELECT 'person' AS name, encode(uuid_send(t.key), 'hex') AS line FROM courier.person t
                UNION ALL SELECT 'limit_window', encode(uuid_send(t.key), 'hex') FROM courier.limit_window t
                UNION ALL SELECT 'request', to_jsonb(t)::text FROM courier.request t
                UNION ALL SELECT 'verification', to_jsonb(t)::text FROM courier.verification t
                UNION ALL SELECT 'send', to_jsonb(t)::text FROM courier.send t
                UNION ALL SELECT 'receipt', to_jsonb(t)::text FROM courier.receipt t
            ) AS found
            WHERE strpos(line, encode(substring($1 FOR 10), 'hex')) > 0 OR strpos(line, $2) > 0 OR strpos(line, $3) > 0
               OR (name = 'verification' AND line NOT LIKE '%"sealed": null%' AND strpos(line, encode($1, 'hex')) > 0)
            ORDER BY name
            """,
            [fingerprint] + words
        ).compactMap(\.self)
    }
}
