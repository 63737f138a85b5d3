// SPDX-License-Identifier: Apache-2.0

import Formats
import PostgresClient
import TestSupport
import Testing
import Verification

@testable import Administration
@testable import Ledger

/// Runs the verifier's contract with a login that has the role `courier_verifier` only.
@Suite struct CheckCodeTests {
    @Test func `the right code is approved once`() async throws {
        try await withVerifier { _, worker, verifier in
            let claim = try await worker.claim()
            #expect(try await verifier.check(claim) == .init(status: .approved, checksLeft: 4, subject: nil))
            #expect(try await verifier.check(claim).status == .alreadyApproved)
            #expect(try await verifier.check(claim, code: "000000").status == .alreadyApproved)
        }
    }

    @Test func `what cannot be a code costs no guess, and the code is read as people type it`() async throws {
        try await withVerifier { _, worker, verifier in
            let claim = try await worker.claim()
            let digits = claim.code.digits
            for slip in ["", "x", "12345", "\(digits)O", "\(digits) \(digits)", "\(digits)1"] {
                let answer = try await verifier.check(claim, code: slip, digits: 6...6)
                #expect(answer == .init(status: .notACode, checksLeft: nil, subject: nil))
            }
            let typed = "Code: \(digits.prefix(3))\u{a0}\(digits.suffix(3))."
            let right = try await verifier.check(claim, code: typed)
            #expect(right == .init(status: .approved, checksLeft: 4, subject: nil))
        }
    }

    @Test func `wrong codes count down to a lock that the right code does not open`() async throws {
        try await withVerifier { database, worker, verifier in
            let claim = try await worker.claim()
            var answers: [Verifier.Answer] = []
            for code in claim.wrongCodes(6) + [claim.code.digits] {
                answers.append(try await verifier.check(claim, code: code))
            }

            #expect(
                answers.map(\.status) == [.incorrect, .incorrect, .incorrect, .incorrect, .locked, .locked, .locked]
            )
            #expect(answers.map(\.checksLeft) == [4, 3, 2, 1, 0, 0, 0])
            #expect(
                try await database.text("SELECT concat_ws(' ', state, checks_used, sealed) FROM courier.verification")
                    == "locked 5"
            )
        }
    }

    @Test(.timeLimit(.minutes(5)), arguments: [1, 500])
    func `of a thousand parallel guesses at most five are evaluated and one approved`(right: Int) async throws {
        try await withVerifier(connections: 16) { database, worker, verifier in
            let claim = try await worker.claim()
            let codes = claim.wrongCodes(1000 - right) + [String](repeating: claim.code.digits, count: right)
            let guesses = codes.shuffled()
            let answers = try await inParallel(1000) { try await verifier.check(claim, code: guesses[$0]).status }

            let used = try #require(try await database.text("SELECT checks_used::text FROM courier.verification"))
            let approved = answers.count { $0 == .approved }
            let incorrect = answers.count { $0 == .incorrect }
            let state = try await database.text("SELECT state FROM courier.verification")
            #expect(approved == (state == "approved" ? 1 : 0))
            if state == "approved" {
                #expect(incorrect == (Int(used) ?? 0) - 1)
                #expect(answers.count { $0 == .alreadyApproved } == 999 - incorrect)
            } else {
                #expect(state == "locked")
                #expect(used == "5")
                #expect(incorrect == 4)
                #expect(answers.count { $0 == .locked } == 996)
            }
            #expect((1...5).contains(Int(used) ?? 0))
        }
    }

    @Test func `a thousand parallel right guesses are approved once`() async throws {
        try await withVerifier(connections: 16) { database, worker, verifier in
            let claim = try await worker.claim()
            let answers = try await inParallel(1000) { _ in try await verifier.check(claim).status }
            #expect(answers.count { $0 == .approved } == 1)
            #expect(answers.count { $0 == .alreadyApproved } == 999)
            #expect(try await database.text("SELECT checks_used::text FROM courier.verification") == "1")
        }
    }

    @Test func `a code is over when its time is, swept or not, and no guess is counted`() async throws {
        try await withVerifier { database, worker, verifier in
            let claim = try await worker.claim()
            _ = try await worker.settle([claim], .sent)
            try await database.script("UPDATE courier.verification SET expires_at = now(), due_at = now()")
            #expect(try await verifier.check(claim).status == .expired)
            _ = try await worker.ledger.sweepExpired()
            #expect(try await verifier.check(claim).status == .expired)
            #expect(try await database.text("SELECT checks_used::text FROM courier.verification") == "0")
        }
    }

    @Test func `a verification that is not there is not found`() async throws {
        try await withVerifier { _, worker, verifier in
            let claim = try await worker.claim()
            let guess = Verifier.Guess(
                VerificationID(claim.id.uuid),
                tenant: claim.tenant,
                purpose: claim.purpose,
                code: claim.code.digits
            )
            let answer = try await verifier.check(guess)
            #expect(answer == .init(status: .notFound, checksLeft: nil, subject: nil))
        }
    }

    @Test func `a caller that stands still behind a guess has five seconds, or less where it says so`() async throws {
        try await LedgerDatabase.with { database in
            let id = try await LedgerWorker(database.ledger()).claim().reference.verificationID
            for (own, kept) in [("0", "5s"), ("1min", "5s"), ("300ms", "300ms"), ("5s", "5s")] {
                let limit = try await database.withPool(connections: 1) { pool in
                    try await pool.withSession { session in
                        try session.script("BEGIN; SET LOCAL idle_in_transaction_session_timeout = '\(own)'")
                        let guess: StaticString = "SELECT status FROM courier.check_code($1, $2)"
                        _ = try session.execute(Statement(guess, [.uuid(id.uuid.value), .bytes([])]))
                        let setting: StaticString = "SELECT current_setting('idle_in_transaction_session_timeout')"
                        let limit = try session.execute(Statement(setting)).onlyRow.text(0)
                        try session.script("ROLLBACK")
                        return limit
                    }
                }
                #expect(limit == kept, "with \(own)")
            }
        }
    }

    @Test func `a guess waits no longer than two seconds for another one, and is not counted then`() async throws {
        try await LedgerDatabase.with { database in
            let claim = try await LedgerWorker(database.ledger()).claim()
            let released = LedgerDatabase.waiting(for: "SELECT FROM pg_class WHERE relname = 'released'")
            let guess = "SELECT FROM courier.check_code('\(claim.reference.verificationID)', '')"
            async let holder: Void = database.play(
                "BEGIN; \(guess); SELECT pg_advisory_xact_lock(1); \(released) ROLLBACK"
            )
            try await database.waitForHolders()
            let start = ContinuousClock.now
            try await database.withPool(connections: 1) { pool in
                let error = await #expect(throws: PostgresError.self) { try await Verifier.test(pool).check(claim) }
                #expect(error?.isLockConflict == true)
            }
            #expect((.seconds(1.5)...(.seconds(5))).contains(ContinuousClock.now - start))
            try await database.script("CREATE TABLE public.released ()")
            try await holder
            #expect(try await database.count("SELECT max(checks_used)::int8 FROM courier.verification") == 0)
        }
    }

    @Test func `the code of another tenant or purpose is incorrect`() async throws {
        try await withVerifier { _, worker, verifier in
            let claim = try await worker.claim()
            #expect(try await verifier.check(claim, tenant: "other").status == .incorrect)
            #expect(try await verifier.check(claim, purpose: .mfaSignIn).status == .incorrect)
            #expect(try await verifier.check(claim) == .init(status: .approved, checksLeft: 2, subject: nil))
        }
    }

    @Test func `a resend of the same code keeps the count, a new generation begins it again`() async throws {
        try await withVerifier { database, worker, verifier in
            let claim = try await worker.claim()
            _ = try await worker.settle([claim], .sent)
            for code in claim.wrongCodes(3) { _ = try await verifier.check(claim, code: code) }
            let openWindow = "UPDATE courier.verification SET resend_after = '-infinity'"
            try await database.script(openWindow)
            let same = try #require(
                try await worker.intake(.people(1, round: 1, at: try await worker.now())).value.first
            )
            _ = try await worker.settle([same], .sent)
            #expect(same.code == claim.code)
            #expect(try await verifier.check(same, code: claim.wrongCodes(1)[0]).checksLeft == 1)

            try await database.script(openWindow + ", expires_at = clock_timestamp() + interval '100 s'")
            let next = try #require(
                try await worker.intake(.people(1, round: 2, at: try await worker.now())).value.first
            )
            #expect(next.reference.verificationID == claim.reference.verificationID)
            #expect(next.generation == 2)
            #expect(try await verifier.check(claim, code: claim.code.digits).checksLeft == 4)
            #expect(try await verifier.check(next).status == .approved)
        }
    }
}

/// Tests the behaviour of `check_code` that the reference verifier does not use.
@Suite struct CheckCodeFunctionTests {
    @Test func `with a fingerprint given, another recipient's guess is incorrect`() async throws {
        try await LedgerDatabase.with { database in
            let worker = LedgerWorker(database.ledger())
            let claim = try await worker.claim()
            let own = worker.keys.fingerprint(of: claim.recipient)
            let other = [UInt8](repeating: 7, count: own.count)

            #expect(try await database.check(claim, fingerprint: other) == "incorrect 4")
            #expect(try await database.check(claim, fingerprint: []) == "incorrect 3")
            #expect(try await database.check(claim, fingerprint: own) == "approved 2")
        }
    }

    @Test func `an e-mail verification is never approved without its fingerprint`() async throws {
        try await LedgerDatabase.with { database in
            let worker = LedgerWorker(database.ledger())
            let claim = try await worker.claim()
            try await database.script("UPDATE courier.verification SET channel = 'email'")

            #expect(try await database.check(claim, fingerprint: nil) == "incorrect 4")
            let own = worker.keys.fingerprint(of: claim.recipient)
            #expect(try await database.check(claim, fingerprint: own) == "approved 3")
        }
    }

    @Test(arguments: [nil, []] as [[UInt8]?]) func `a missing hash is an incorrect guess`(
        hash: [UInt8]?
    ) async throws {
        try await LedgerDatabase.with { database in
            let claim = try await LedgerWorker(database.ledger()).claim()
            #expect(
                try await database.text(
                    "SELECT status || ' ' || checks_left FROM courier.check_code($1, $2)",
                    [.verification(of: claim), .bytes(hash)]
                ) == "incorrect 4"
            )
        }
    }

    @Test func `the answer tells what the verification is for`() async throws {
        try await LedgerDatabase.with { database in
            let worker = LedgerWorker(database.ledger())
            let now = try await worker.now()
            let claims = try await worker.intake([.request(id: "r1", at: now, more: #","subject":"account-7""#)]).value
            let claim = try #require(claims.first)
            let fingerprint = hexadecimal(worker.keys.fingerprint(of: claim.recipient))
            #expect(
                try await database.text(
                    """
                    SELECT concat_ws(' ', status, tenant, purpose, subject, channel, encode(recipient_fingerprint, 'hex'))
                    FROM courier.check_code($1, '\\x00')
                    """,
                    [.verification(of: claim)]
                ) == "incorrect default sign_in account-7 sms \(fingerprint)"
            )
        }
    }

    @Test func `the key of a hash is told with its generation, and nothing of an unknown verification`()
        async throws
    {
        try await LedgerDatabase.with { database in
            let keys = CodeKeys(code: .test(1), hash: .test(2, id: 7), fingerprint: .test(3), seal: .test(4))
            let claim = try await LedgerWorker(database.ledger(keys: keys), keys: keys).claim()
            try await database.withLogin(granted: "courier_verifier") { pool in
                let statement = Statement(
                    "SELECT key_id, generation FROM courier.hash_key_of($1)",
                    [.verification(of: claim)]
                )
                let row = try await pool.withSession { try $0.execute(statement).onlyRow }
                #expect(try row.int16(0) == 7)
                #expect(try row.int32(1) == 1)
                let unknown = Statement("SELECT * FROM courier.hash_key_of($1)", [.uuid(claim)])
                #expect(try await pool.withSession { try $0.execute(unknown).isEmpty })
                await #expect(throws: Verifier.Failure.unknownKey(KeyID(7))) {
                    try await Verifier.test(pool).check(claim)
                }
            }
        }
    }
}

extension LedgerDatabase {
    /// Checks the right code with a recipient's fingerprint, and returns the status and the checks left.
    fileprivate func check(_ claim: ClaimedSend, fingerprint: [UInt8]?) async throws -> String? {
        let hash = claim.code.hash(
            verification: claim.reference.verificationID,
            tenant: claim.tenant,
            purpose: claim.purpose.rawValue,
            key: CodeKeys.test.hash.active
        )
        return try await text(
            "SELECT status || ' ' || checks_left FROM courier.check_code($1, $2, $3)",
            [.verification(of: claim), .bytes(hash), .bytes(fingerprint)]
        )
    }
}

/// Provides a database, a worker, and a verifier with its own login.
private func withVerifier(
    connections: Int = 2,
    _ body: (LedgerDatabase, LedgerWorker, Verifier) async throws -> Void
) async throws {
    try await LedgerDatabase.with { database in
        try await database.withLogin(granted: "courier_verifier", connections: connections) { pool in
            try await body(database, LedgerWorker(database.ledger()), Verifier.test(pool))
        }
    }
}
