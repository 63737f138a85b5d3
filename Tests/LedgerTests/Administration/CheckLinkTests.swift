// SPDX-License-Identifier: Apache-2.0

import PostgresClient
import TestSupport
import Testing
import Verification

@testable import Administration
@testable import Ledger

/// Runs the verifier's contract for e-mail links and silent pushes in a real database.
@Suite struct CheckLinkTests {
    @Test(arguments: [true, false]) func `the token and the code beside it are each approved, and only once in all`(
        byToken: Bool
    ) async throws {
        try await withMail { database, worker, verifier in
            let claim = try await worker.mail()
            _ = try await worker.settle([claim], .sent)
            let (right, other) =
                byToken
                ? (claim.credential.secret, claim.code.digits) : (claim.code.digits, claim.credential.secret)
            #expect(
                try await verifier.check(claim, guess: right) == .init(status: .approved, checksLeft: 4, subject: nil)
            )
            #expect(try await verifier.check(claim, guess: other).status == .alreadyApproved)
            #expect(
                try await database.text("SELECT concat_ws(' ', state, sealed) FROM courier.verification") == "approved"
            )
        }
    }

    @Test func `without the address that it was sent to nothing is approved, and each try counts`() async throws {
        try await withMail { _, worker, verifier in
            let claim = try await worker.mail()
            let other = try #require(EmailAddress("bob@example.com"))
            let id = claim.reference.verificationID
            let bare = Verifier.Guess(
                id,
                tenant: claim.tenant,
                purpose: claim.purpose,
                code: claim.credential.secret
            )
            let forgotten = try await verifier.check(bare)
            #expect(forgotten == .init(status: .incorrect, checksLeft: 4, subject: nil))
            #expect(try await verifier.check(claim, guess: claim.credential.secret, as: .email(other)).checksLeft == 3)
            #expect(try await verifier.check(claim, guess: claim.code.digits, as: .email(other)).status == .incorrect)
            #expect(try await verifier.check(claim, guess: claim.credential.secret).status == .approved)
        }
    }

    @Test func `tokens and codes have one count of wrong guesses`() async throws {
        try await withMail { _, worker, verifier in
            let claim = try await worker.mail()
            let token = claim.credential.secret
            let wrong = claim.wrongCodes(4) + [String(token.dropFirst()) + (token.hasPrefix("A") ? "B" : "A")]
            var answers: [Verifier.Answer.Status] = []
            for guess in wrong { answers.append(try await verifier.check(claim, guess: guess).status) }
            #expect(answers == [.incorrect, .incorrect, .incorrect, .incorrect, .locked])
            #expect(try await verifier.check(claim, guess: claim.credential.secret).status == .locked)
            #expect(try await verifier.check(claim, guess: claim.code.digits).status == .locked)
        }
    }

    @Test func `after its time the code is a wrong guess while the link still counts`() async throws {
        try await withMail { database, worker, verifier in
            let claim = try await worker.mail()
            _ = try await worker.settle([claim], .sent)
            #expect(try await database.text(Self.lives) == "00:20:00 00:10:00")
            try await database.script("UPDATE courier.verification SET short_until = clock_timestamp()")
            #expect(
                try await verifier.check(claim, guess: claim.code.digits)
                    == .init(status: .incorrect, checksLeft: 4, subject: nil)
            )
            #expect(try await verifier.check(claim, guess: claim.credential.secret).status == .approved)
        }
    }

    @Test func `after the link's time neither counts, and no guess is counted`() async throws {
        try await withMail { database, worker, verifier in
            let claim = try await worker.mail()
            _ = try await worker.settle([claim], .sent)
            try await database.script("UPDATE courier.verification SET expires_at = now(), due_at = now()")
            #expect(try await verifier.check(claim, guess: claim.credential.secret).status == .expired)
            #expect(try await verifier.check(claim, guess: claim.code.digits).status == .expired)
            #expect(try await database.text("SELECT checks_used::text FROM courier.verification") == "0")
        }
    }

    @Test func `a resend repeats token and code, a new generation makes both new`() async throws {
        try await withMail { database, worker, verifier in
            let claim = try await worker.mail()
            _ = try await worker.settle([claim], .sent)
            let openWindow = "UPDATE courier.verification SET resend_after = '-infinity'"
            try await database.script(openWindow)
            let same = try await worker.mail(round: 1)
            _ = try await worker.settle([same], .sent)
            #expect(same.credential == claim.credential)
            #expect(same.link() == claim.link())

            try await database.script(openWindow + ", short_until = clock_timestamp() + interval '119 s'")
            let next = try await worker.mail(round: 2)
            #expect(next.reference.verificationID == claim.reference.verificationID)
            #expect(next.generation == 2)
            for old in [claim.credential.secret, claim.code.digits] {
                #expect(try await verifier.check(next, guess: old).status == .incorrect)
            }
            _ = try await worker.settle([next], .sent)
            #expect(try await database.text(Self.lives) == "00:20:00 00:10:00")
            #expect(try await verifier.check(next, guess: next.code.digits).status == .approved)
        }
    }

    @Test func `a lost claim is taken over with the same link, whose target rests sealed`() async throws {
        try await withMail { database, worker, _ in
            let claim = try await worker.mail()
            let rendering = try #require(try await database.text("SELECT rendering FROM courier.send"))
            #expect(!rendering.contains("example.com") && !rendering.contains("user=ada"))
            try await database.script("UPDATE courier.parcel SET lease_until = clock_timestamp()")
            let again = try #require(try await worker.ledger.sweepSends(capacity: 9).value.first)
            #expect(again.credential == claim.credential)
            #expect(again.recipient == claim.recipient)
            #expect(again.link() == claim.link() && claim.link() != nil)
            #expect(again.region == nil)

            _ = try await worker.settle([again], .sent)
            #expect(try await database.text("SELECT rendering FROM courier.send") == "")
        }
    }

    @Test func `a push's secret is approved once, without any fingerprint`() async throws {
        try await withMail { database, worker, verifier in
            let now = try await worker.now()
            let claim = try #require(try await worker.intake([.push(id: "r1", at: now)]).value.first)
            try await database.script("UPDATE courier.parcel SET lease_until = clock_timestamp()")
            let again = try #require(try await worker.ledger.sweepSends(capacity: 9).value.first)
            #expect(again.credential == claim.credential)
            #expect(again.recipient == claim.recipient)
            func check(_ guess: String) async throws -> Verifier.Answer {
                try await verifier.check(
                    Verifier.Guess(
                        claim.reference.verificationID,
                        tenant: claim.tenant,
                        purpose: claim.purpose,
                        code: guess
                    )
                )
            }
            #expect(try await check("000000").checksLeft == 4)
            #expect(try await check(claim.credential.secret).status == .approved)
            #expect(try await check(claim.credential.secret).status == .alreadyApproved)
        }
    }

    @Test(.timeLimit(.minutes(5))) func `of many parallel guesses by link and code one is approved`() async throws {
        try await withMail(connections: 16) { database, worker, verifier in
            let claim = try await worker.mail()
            let guesses = [claim.credential.secret, claim.code.digits]
            let answers = try await inParallel(200) { try await verifier.check(claim, guess: guesses[$0 % 2]).status }
            #expect(answers.count { $0 == .approved } == 1)
            #expect(answers.count { $0 == .alreadyApproved } == 199)
            #expect(try await database.text("SELECT checks_used::text FROM courier.verification") == "1")
        }
    }

    /// Validity of the link and of the code in the same e-mail, counted from the outcome of the send.
    private static let lives: StaticString = """
        SELECT concat_ws(' ', to_char(expires_at - moment + interval '0.5 s', 'HH24:MI:SS'),
            to_char(short_until - moment + interval '0.5 s', 'HH24:MI:SS'))
        FROM courier.verification, LATERAL (SELECT resend_after - window_of * interval '1 s' AS moment
            FROM (VALUES (CASE sends_used WHEN 1 THEN 60 WHEN 2 THEN 120 ELSE 300 END)) AS w(window_of)) AS m
        """
}

extension LedgerWorker {
    /// Requests a link for one person and returns the claim.
    fileprivate func mail(round: Int = 0) async throws -> ClaimedSend {
        let record = InboundRecord.email(id: "r\(round)", offset: Int64(round), at: try await now())
        return try #require(try await intake([record]).value.first)
    }
}

extension Verifier {
    /// Checks the code or the link of an e-mail, as its recipient unless `recipient` is given.
    fileprivate func check(
        _ send: ClaimedSend,
        guess: String,
        as recipient: Recipient? = nil
    ) async throws -> Answer {
        try await check(
            Guess(
                send.reference.verificationID,
                tenant: send.tenant,
                purpose: send.purpose,
                code: guess,
                recipientFingerprint: CodeKeys.test.fingerprint(of: recipient ?? send.recipient)
            )
        )
    }
}

/// Provides a database, a worker, and a verifier with its own login.
private func withMail(
    connections: Int = 2,
    _ body: (LedgerDatabase, LedgerWorker, Verifier) async throws -> Void
) async throws {
    try await LedgerDatabase.with { database in
        try await database.withLogin(granted: "courier_verifier", connections: connections) { pool in
            try await body(database, LedgerWorker(database.ledger()), Verifier.test(pool))
        }
    }
}
