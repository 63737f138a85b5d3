// SPDX-License-Identifier: Apache-2.0

import Formats
import Ledger
import TestSupport
import Testing
import Verification

@Suite struct MidnightTests {
    private static let day: Int64 = 86_400_000_000
    private static let midnight = Timestamp(microseconds: (Timestamp.test.microseconds / day + 1) * day)

    @Test(.timeLimit(.minutes(5)))
    func `an id that a worker writes before midnight is another one's after it`() async throws {
        try await ClockedDatabase.with(at: Self.midnight - .milliseconds(10)) { clocked in
            let worker = clocked.worker(.desk())
            async let before: Void = clocked.database.play(Self.holdRequest)
            try await clocked.database.waitForHolders()
            let now = Self.midnight + .milliseconds(10)
            try await clocked.set(now)
            let request = ModelRequest(id: "r", tenant: RuleDesk.tenant, requestedAt: now)
            let recorded = try await worker.intake([request.record(offset: 1)], at: now)
            try await before
            #expect(recorded.value.isEmpty)
            #expect(recorded.outbox.map { $0.json?.text("reason") } == ["request_id_conflict"])

            let again = try await worker.intake([request.record(offset: 2)], at: now + .seconds(60))
            #expect(again.value.isEmpty)
            #expect(again.outbox.map { $0.json?.text("reason") } == ["request_id_conflict"])
        }
    }

    /// Inserts the request id for another person and commits when another session waits for it.
    private static let holdRequest = """
        BEGIN;
        INSERT INTO courier.request (
            day, key, digest, record_topic, record_partition, record_offset, status, reason, rule
        )
        SELECT (now AT TIME ZONE 'UTC')::date, courier.request_key('\(RuleDesk.tenant)', 'r'), gen_random_uuid(), 0, 0, 0,
            'rejected', 'region_not_allowed', 'regions'
        FROM fake.moment;
        SELECT pg_advisory_xact_lock(1);
        \(LedgerDatabase.untilSomebodyWaits)
        COMMIT;
        """
}
