// SPDX-License-Identifier: Apache-2.0

import Formats
import Ledger
import TestSupport
import TestTools
import Testing
import Verification

@Suite struct WindowOrderTests {
    /// Allows one of two concurrent requests of a tenant, so the batch inserts rows before it decides.
    private static let policy = Policy.desk { tenant in
        tenant.limits.perIP = [RateLimit(count: 5, per: .seconds(10))]
        tenant.limits.perTenant = [RateLimit(count: 1, per: .seconds(10))]
    }

    @Test(.timeLimit(.minutes(5)), arguments: ["person", "limit_window"])
    func `a row that another worker began meanwhile is not waited for while others are held`(
        table: String
    )
        async throws
    {
        // Workers lock rows in the order of their keys.
        let people = [1, 2].sorted { Self.key(of: $0, in: table) < Self.key(of: $1, in: table) }
        try await ClockedDatabase.with(connections: 5) { clocked in
            let worker = clocked.worker(Self.policy)
            let database = clocked.database
            let later = Self.record("before", of: people[1], at: .test, offset: 1)
            _ = try await worker.intake([later], at: .test)
            let now = Timestamp.test + .seconds(3600)
            try await clocked.set(now)

            async let holder: Void = database.play(Self.holdVerification)
            try await database.waitForHolders()
            let batch = people.enumerated()
                .map { place, person in
                    Self.record("r\(place)", of: person, at: now, offset: Int64(place) + 2)
                }
            async let recorded = worker.intake(batch, at: now)
            try await database.waitForWaiter()
            try await database.script(Self.begin(Self.key(of: people[0], in: table), in: table))
            try await database.script(Self.lockRows(of: table))
            try await holder
            #expect(try await recorded.value.count == 1)
        }
    }

    private static func number(_ person: Int) -> String { "+4915\(400_000_000 + person)" }

    private static func record(_ id: String, of person: Int, at now: Timestamp, offset: Int64) -> InboundRecord {
        var request = ModelRequest(id: id, tenant: RuleDesk.tenant, requestedAt: now)
        request.number = number(person)
        request.ip = .address(of: person)
        return request.record(offset: offset)
    }

    private static func key(of person: Int, in table: String) -> LimitKey {
        if table == "limit_window" { return .address(.address(of: person), tenant: RuleDesk.tenant) }
        let fingerprint = PhoneNumber(number(person)).map { CodeKeys.test.fingerprint(of: .phone($0)) } ?? []
        return LimitKey(scope: .recipient, tenant: RuleDesk.tenant, fingerprint: fingerprint)
    }
}

// MARK: - Other workers' transactions

extension WindowOrderTests {
    /// Locks a verification that the batch reads, until `lockRows` has locked its first row.
    private static let holdVerification = """
        BEGIN;
        SELECT FROM courier.verification FOR UPDATE;
        SELECT pg_advisory_xact_lock(1);
        \(LedgerDatabase.waiting(for: lockTwo))
        ROLLBACK;
        """

    private static let lockTwo = """
        SELECT FROM pg_locks l JOIN pg_database d ON d.oid = l.database
        WHERE d.datname = current_database() AND l.locktype = 'advisory' AND l.objid = 2
        """

    private static func begin(_ key: LimitKey, in table: String) -> String {
        table == "person"
            ? "INSERT INTO courier.person (key, slots, entries, kept_until) VALUES ('\(key.digest)', '', '', 'infinity')"
            : "INSERT INTO courier.limit_window (key, entries, expires_at) VALUES ('\(key.digest)', '', 'infinity')"
    }

    /// Locks both rows in the order in which a worker locks them.
    private static func lockRows(of table: String) -> String {
        """
        BEGIN;
        SELECT FROM (SELECT FROM courier.\(table) ORDER BY key LIMIT 1 FOR UPDATE) AS w;
        SELECT pg_advisory_xact_lock(2);
        SELECT FROM courier.\(table) ORDER BY key FOR UPDATE;
        COMMIT;
        """
    }
}

extension LedgerDatabase {
    /// Waits until one session waits for another session's transaction.
    fileprivate func waitForWaiter() async throws {
        try await eventually("a worker waits") {
            try await count(
                """
                SELECT count(*) FROM pg_stat_activity
                WHERE datname = current_database() AND wait_event_type = 'Lock'
                """
            ) > 0
        }
    }
}
