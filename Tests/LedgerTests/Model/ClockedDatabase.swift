// SPDX-License-Identifier: Apache-2.0

import Ledger
import PostgresClient
import TestSupport
import Testing
import Verification

/// A database whose ledger reads a clock that stands still until the test moves it.
///
/// The ledger's SQL calls `clock_timestamp()` and `statement_timestamp()` unqualified, so a schema before `pg_catalog`
/// in the search path can stand in for both, and every edge of a window can be met to the microsecond.
struct ClockedDatabase: Sendable {
    let database: LedgerDatabase

    /// What a session needs for the ledger to see the test's clock.
    static let settings = PostgresLedger.sessionSettings + [(name: "search_path", value: "fake, pg_catalog")]

    static func with<Result>(
        connections: Int = 4,
        at time: Timestamp = .test,
        _ body: (ClockedDatabase) async throws -> Result
    ) async throws -> Result {
        try await LedgerDatabase.with(connections: connections, settings: settings) { database in
            try await database.script(
                """
                CREATE SCHEMA fake;
                CREATE TABLE fake.moment (now timestamptz NOT NULL);
                CREATE FUNCTION fake.clock_timestamp() RETURNS timestamptz LANGUAGE sql STABLE
                    AS 'SELECT m.now FROM fake.moment m';
                CREATE FUNCTION fake.statement_timestamp() RETURNS timestamptz LANGUAGE sql STABLE
                    AS 'SELECT m.now FROM fake.moment m';
                INSERT INTO fake.moment VALUES ('2000-01-01Z');
                ALTER FUNCTION courier.check_code(uuid, bytea, bytea) SET search_path = fake, pg_catalog, pg_temp;
                """
            )
            let clocked = ClockedDatabase(database: database)
            try await clocked.set(time)
            return try await body(clocked)
        }
    }

    /// Moves the clock, to the microsecond.
    func set(_ time: Timestamp) async throws {
        let statement = Statement(
            "UPDATE fake.moment SET now = $1",
            [.timestamp(microsecondsSinceUnixEpoch: time.microseconds)]
        )
        _ = try await database.pool.withSession { session in try session.execute(statement) }
    }

    /// A worker on the database's own connections.
    func worker(_ policy: Policy) -> RuleWorker {
        RuleWorker(ledger: database.ledger(), policy: policy)
    }

    /// Lends a worker with connections of its own, as another process would have.
    func withWorker<Result>(
        _ policy: Policy,
        connections: Int = 2,
        _ body: (RuleWorker) async throws -> Result
    ) async throws -> Result {
        try await database.withPool(connections: connections, settings: Self.settings) { pool in
            try await body(RuleWorker(ledger: database.ledger(on: pool), policy: policy))
        }
    }

    /// Guesses one after the other, in one statement: what each came to.
    func check(_ guesses: [Guess]) async throws -> [GuessAnswer] {
        let statement = Statement(
            """
            SELECT c.status, c.checks_left
            FROM unnest($1::uuid[], $2::bytea[]) WITH ORDINALITY AS u(id, hash, place)
            CROSS JOIN LATERAL courier.check_code(u.id, u.hash) AS c
            ORDER BY u.place
            """,
            [.uuids(guesses.map(\.claim.reference.verificationID.uuid.value)), .bytesArray(guesses.map(\.hash))]
        )
        return try await database.pool.withSession { session in
            try session.execute(statement).map { GuessAnswer(status: try $0.text(0), checksLeft: try $0.int32(1)) }
        }
    }
}

/// One guess of a person.
struct Guess: Sendable {
    /// The newest send of the verification.
    let claim: ClaimedSend
    let isRight: Bool

    /// What a verifier makes of the guess.
    var hash: [UInt8] {
        VerificationCode.hash(
            secret: isRight ? claim.code.digits : claim.code.digits + "0",
            verification: claim.reference.verificationID,
            tenant: claim.tenant,
            purpose: claim.purpose.rawValue,
            key: CodeKeys.test.hash.active
        )
    }
}

struct GuessAnswer: Sendable, Equatable, CustomStringConvertible {
    let status: String
    let checksLeft: Int32

    var description: String { "\(status), \(checksLeft) left" }
}

/// A worker's intake with the numbering plan of the model.
struct RuleWorker: Sendable {
    let ledger: PostgresLedger
    var policy: Policy
    var numbers: any NumberDirectory = ModelPlan()

    /// Decides records in one batch.
    func intake(_ records: [InboundRecord], at now: Timestamp) async throws -> Recorded<[ClaimedSend]> {
        let screener = Screener(policy: policy, keys: .test, numbers: numbers)
        let candidates = records.map { screener.candidate(for: $0, now: now) }
        let recorded = try await ledger.intake(candidates, by: .test(policy))
        #expect(recorded.value.waiting.isEmpty)
        return Recorded(recorded.value.sends, outbox: recorded.outbox)
    }

    /// The same beside other workers: records whose rows others lock are tried until nobody does.
    func intakeBesideOthers(_ records: [InboundRecord], at now: Timestamp) async throws -> Recorded<[ClaimedSend]> {
        let screener = Screener(policy: policy, keys: .test, numbers: numbers)
        let candidates = records.map { screener.candidate(for: $0, now: now) }
        return try await decideBesideOthers(candidates) { try await ledger.intake($0, by: .test(policy)) }
    }
}
