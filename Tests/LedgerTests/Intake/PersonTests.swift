// SPDX-License-Identifier: Apache-2.0

import Formats
import PostgresClient
import TestSupport
import TestTools
import Testing
import Verification

@testable import Ledger

/// Tests the rows of recipients (`person`).
@Suite(.timeLimit(.minutes(5))) struct PersonTests {
    @Test func `an operator's statement makes the same keys as a worker, in the same order`() async throws {
        var random = TestSeed("keys of persons")
        let keys = ["default", "a", "", "t\u{e9}", "ip", #"\x00'"#, String(repeating: "\u{1f511}", count: 60)]
            .flatMap { tenant in [LimitKey.Scope.recipient, .ip].map { (tenant, $0) } }
            .map { (tenant: $0, scope: $1, fingerprint: (0..<32).map { _ in UInt8(random.below(256)) }) }
        let made = keys.map { LimitKey(scope: $0.scope, tenant: $0.tenant, fingerprint: $0.fingerprint) }
        try await LedgerDatabase.with { database in
            let statement = Statement(
                """
                SELECT courier.limit_key(u.scope, u.tenant, u.fingerprint)
                FROM unnest($1::text[], $2::text[], $3::bytea[]) AS u(scope, tenant, fingerprint) ORDER BY 1
                """,
                [.texts(keys.map(\.scope.rawValue)), .texts(keys.map(\.tenant)), .bytesArray(keys.map(\.fingerprint))]
            )
            let answers = try await database.pool.withSession { try $0.execute(statement).map { try $0.uuid(0) } }
            #expect(answers == made.sorted().map(\.digest.value))
        }
    }

    @Test func `one fingerprint has a key for each scope and tenant`() {
        let fingerprint = [UInt8](repeating: 7, count: 32)
        let keys = ["a", "b", "recipienta"].flatMap { tenant in
            [LimitKey.Scope.recipient, .ip].map { LimitKey(scope: $0, tenant: tenant, fingerprint: fingerprint).digest }
        }
        #expect(Set(keys).count == 6)
        #expect(keys.allSatisfy { $0.bytes.prefix(10) == fingerprint.prefix(10) })
    }

    @Test func `a row stores the newest verification of each purpose by its number`() throws {
        var person = Person(keptUntil: .test)
        var ids: [Purpose: VerificationID] = [:]
        for (place, purpose) in (Purpose.allCases + Purpose.allCases.reversed()).enumerated() {
            ids[purpose] = .made(at: .test + .seconds(place))
            person.point(purpose, to: try #require(ids[purpose]), at: .test)
        }
        let bytes = person.encodedSlots
        let read = Person(encodedSlots: bytes + [1, 2, 3], window: person.window, keptUntil: person.keptUntil)
        #expect(read == person)
        for purpose in Purpose.allCases { #expect(read[purpose] == ids[purpose]) }
        // These numbers are stored in rows and must not change.
        let numbers: [Purpose] = [
            .signUp, .signIn, .mfaEnrollment, .mfaSignIn, .reauthentication, .accountLink, .appVerification,
        ]
        let expected = numbers.enumerated().map { [UInt8($0 + 1)] + (ids[$1]?.uuid.bytes ?? []) }
        let slots = stride(from: 0, to: bytes.count, by: 17).map { Array(bytes[$0..<$0 + 17]) }
        #expect(Set(slots) == Set(expected) && slots.count == 7)
    }

    @Test func `a row is kept while a slot or the window is needed, and every slot as long as the row`() {
        let (old, young) = (VerificationID.made(at: .test), VerificationID.made(at: .test + Person.slotLife))
        var person = Person(keptUntil: .test)
        person.point(.signUp, to: old, at: .test)
        #expect(person.keptUntil == .test + Person.slotLife)
        person.point(.signIn, to: young, at: .test + Person.slotLife)
        #expect(person[.signUp] == old && person[.signIn] == young)
        person.point(.signIn, to: young, at: .test + Person.slotLife + .seconds(1))
        #expect(person[.signUp] == old && person[.signIn] == young)
        #expect(person.keptUntil == .test + Person.slotLife * 2 + .seconds(1))

        let limits = [RateLimit(count: 1, per: .seconds(30 * 86_400))]
        var window = LimitWindow()
        window.admit(at: .test, limits: limits)
        person.count(WindowChange(window, under: limits, at: .test))
        #expect(person.keptUntil == .test + .seconds(30 * 86_400))
        person.point(.signIn, to: young, at: .test + Person.slotLife)
        #expect(person.keptUntil == .test + .seconds(30 * 86_400))
    }

    @Test func `a person is one row, whatever the purposes, and a change writes to no index of it`() async throws {
        try await LedgerDatabase.with { database in
            let worker = LedgerWorker(database.ledger(), policy: .counting)
            let now = try await worker.now()
            for (place, purpose) in ["sign_in", "sign_up", "account_link"].enumerated() {
                let request = InboundRecord.request(id: purpose, purpose: purpose, offset: Int64(place), at: now)
                #expect(try await worker.intake([request]).value.count == 1)
            }
            let row: StaticString = "SELECT length(slots) || ' ' || length(entries) FROM courier.person"
            #expect(try await database.texts(row) == ["51 36"])
            try await eventually("the changes are counted") {
                try await database.count(
                    "SELECT n_tup_upd FROM pg_stat_user_tables WHERE relname = 'person' AND n_tup_hot_upd = n_tup_upd"
                ) == 2
            }
        }
    }

    /// The second worker has read that the person does not exist, and waits for the first worker's insert.
    @Test func `two workers that are asked for a new person at once send one message`() async throws {
        try await LedgerDatabase.with(connections: 6) { database in
            let worker = LedgerWorker(database.ledger(), policy: .counting)
            // From now on the tenant has a gate.
            _ = try await worker.claim(5)
            let now = try await worker.now()
            let rounds = [
                try await worker.candidates(.people(2, round: 1, at: now)),
                try await worker.candidates(.people(2, round: 2, at: now)),
            ]
            async let holder: Void = database.play(Self.holdGate)
            try await database.waitForHolders()
            let recorded = try await withThrowingTaskGroup(of: Recorded<[ClaimedSend]>.self) { group in
                for candidates in rounds { group.addTask { try await worker.intake(candidates: candidates) } }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            try await holder
            #expect(recorded.reduce(0) { $0 + $1.value.count } == 2)
            let reasons = recorded.flatMap { $0.outbox.map { $0.json?.text("reason") } }
            #expect(reasons == ["send_pending", "send_pending"])
            #expect(try await database.count("SELECT count(*) FROM courier.verification") == 3)
        }
    }

    /// Locks the tenant's gate until two sessions wait: one for the gate, and one for a row of the first.
    private static let holdGate = """
        BEGIN;
        SELECT FROM courier.tenant_gate FOR UPDATE;
        SELECT pg_advisory_xact_lock(1);
        \(LedgerDatabase.waiting(for: """
            SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'
            HAVING count(*) = 2
            """))
        COMMIT;
        """
}

extension VerificationID {
    fileprivate static func made(at time: Timestamp) -> VerificationID {
        var generator = SystemRandomNumberGenerator()
        return VerificationID(UUIDValue.version7(at: time, using: &generator))
    }
}
