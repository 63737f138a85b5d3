// SPDX-License-Identifier: Apache-2.0

import Formats
import Ledger
import PostgresClient
import TestSupport
import Testing
import Verification

/// A database whose ledger reads a clock that only the test moves.
///
/// The ledger's SQL calls `clock_timestamp()` and `statement_timestamp()` unqualified, so a schema before `pg_catalog`
/// in the search path can replace both, and a test can reach every edge of a window to the microsecond.
struct ClockedDatabase: Sendable {
    let database: LedgerDatabase

    /// Session settings that make the ledger read the test's clock.
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

    /// Sets the clock, to the microsecond.
    func set(_ time: Timestamp) async throws {
        let statement = Statement(
            "UPDATE fake.moment SET now = $1",
            [.timestamp(microsecondsSinceUnixEpoch: time.microseconds)]
        )
        _ = try await database.pool.withSession { session in try session.execute(statement) }
    }

    /// A worker that uses the database's own connections.
    func worker(_ policy: Policy) -> RuleWorker {
        RuleWorker(ledger: database.ledger(), policy: policy)
    }

    /// Provides a worker with its own connections, as in another process.
    func withWorker<Result>(
        _ policy: Policy,
        connections: Int = 2,
        _ body: (RuleWorker) async throws -> Result
    ) async throws -> Result {
        try await database.withPool(connections: connections, settings: Self.settings) { pool in
            try await body(RuleWorker(ledger: database.ledger(on: pool), policy: policy))
        }
    }

    /// Runs guesses one after the other in one statement, and returns the answer to each.
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

struct Guess: Sendable {
    /// The newest claim of the verification.
    let claim: ClaimedSend
    let isRight: Bool

    /// The hash that a verifier computes from the guess.
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

/// Runs a worker's intake with the numbering plan of the model.
struct RuleWorker: Sendable {
    let ledger: PostgresLedger
    var policy: Policy
    var numbers: any NumberDirectory = ModelPlan()

    func intake(_ records: [InboundRecord], at now: Timestamp) async throws -> Recorded<[ClaimedSend]> {
        let screener = Screener(policy: policy, keys: .test, numbers: numbers)
        let candidates = records.map { screener.candidate(for: $0, now: now) }
        let recorded = try await ledger.intake(candidates, by: .test(policy))
        #expect(recorded.value.waiting.isEmpty)
        return Recorded(recorded.value.sends, outbox: recorded.outbox)
    }

    /// Decides records while other workers run, and retries the ones whose rows are locked until none is left.
    func intakeBesideOthers(_ records: [InboundRecord], at now: Timestamp) async throws -> Recorded<[ClaimedSend]> {
        let screener = Screener(policy: policy, keys: .test, numbers: numbers)
        let candidates = records.map { screener.candidate(for: $0, now: now) }
        return try await decideBesideOthers(candidates) { try await ledger.intake($0, by: .test(policy)) }
    }
}
