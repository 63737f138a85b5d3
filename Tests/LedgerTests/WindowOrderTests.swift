// SPDX-License-Identifier: Apache-2.0

import Ledger
import TestSupport
import Testing
import Verification

@Suite struct WindowOrderTests {
    /// Of a tenant's two requests at once one is too many, so windows are made before anything is decided.
    private static let policy = Policy.desk { tenant in
        tenant.limits.perRecipient = [RateLimit(count: 5, per: .seconds(10))]
        tenant.limits.perTenant = [RateLimit(count: 1, per: .seconds(10))]
    }

    @Test(.timeLimit(.minutes(5)))
    func `a window that another worker began meanwhile is not waited for while others are held`() async throws {
        // Windows are locked in the order of their fingerprints.
        let people = [1, 2].map(Self.number).sorted { Self.fingerprint($0) < Self.fingerprint($1) }
        try await ClockedDatabase.with(connections: 5) { clocked in
            let worker = clocked.worker(Self.policy)
            let database = clocked.database
            let later = Self.record("before", of: people[1], at: .test, offset: 1)
            _ = try await worker.intake([later], at: .test)
            let now = Timestamp.test + .seconds(3600)
            try await clocked.set(now)

            async let requestHolder: Void = database.script(Self.holdRequest)
            try await database.waitForHolders()
            let batch = people.enumerated()
                .map { place, number in
                    Self.record("r\(place)", of: number, at: now, offset: Int64(place) + 2)
                }
            async let recorded = worker.intake(batch, at: now)
            try await database.waitForWaiter()
            try await database.script(Self.beginWindow(Self.fingerprint(people[0])))
            try await database.script(Self.lockWindows)
            try await requestHolder
            #expect(try await recorded.value.count == 1)
        }
    }

    private static func number(_ person: Int) -> String { "+4915\(400_000_000 + person)" }

    private static func record(_ id: String, of number: String, at now: Timestamp, offset: Int64) -> InboundRecord {
        var request = ModelRequest(id: id, tenant: RuleDesk.tenant, requestedAt: now)
        request.number = number
        return request.record(offset: offset)
    }

    /// In hexadecimal digits.
    private static func fingerprint(_ number: String) -> String {
        hexadecimal(PhoneNumber(number).map { CodeKeys.test.fingerprint(of: .phone($0)) } ?? [])
    }
}

// MARK: - What other workers do

extension WindowOrderTests {
    /// Holds a request of the batch until `lockWindows` has its first window.
    private static let holdRequest = """
        BEGIN;
        INSERT INTO courier.request (day, key, digest, record_topic, record_partition, record_offset)
        SELECT (now AT TIME ZONE 'UTC')::date, courier.request_key('t', 'r0'), gen_random_uuid(), 0, 0, 0
        FROM fake.moment;
        SELECT pg_advisory_xact_lock(1);
        \(LedgerDatabase.waiting(for: lockTwo))
        ROLLBACK;
        """

    private static let lockTwo = """
        SELECT FROM pg_locks l JOIN pg_database d ON d.oid = l.database
        WHERE d.datname = current_database() AND l.locktype = 'advisory' AND l.objid = 2
        """

    private static func beginWindow(_ fingerprint: String) -> String {
        """
        INSERT INTO courier.limit_window (scope, tenant, fingerprint, entries, expires_at)
        VALUES ('recipient', 't', '\\x\(fingerprint)', '', 'infinity')
        """
    }

    /// Locks both windows as a worker does, one after the other.
    private static let lockWindows = """
        BEGIN;
        SELECT FROM (SELECT FROM courier.limit_window ORDER BY fingerprint LIMIT 1 FOR UPDATE) AS w;
        SELECT pg_advisory_xact_lock(2);
        SELECT FROM courier.limit_window ORDER BY fingerprint FOR UPDATE;
        COMMIT;
        """
}

extension LedgerDatabase {
    /// Waits until somebody waits for another one's transaction.
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
