// SPDX-License-Identifier: Apache-2.0

import Formats
import Ledger
import TestSupport
import Testing
import Verification

@Suite struct FullTenantTests {
    private static let policy = Policy.test { tenant in
        tenant.limits = LimitPolicy(perRecipient: [], perIP: [], perTenant: [RateLimit(count: 2, per: .seconds(3600))])
    }

    @Test(.timeLimit(.minutes(5)))
    func `a tenant at its limit is refused without waiting for another worker's batch`() async throws {
        try await LedgerDatabase.with { database in
            let worker = LedgerWorker(database.ledger(), policy: Self.policy)
            let now = try await worker.now()
            #expect(try await worker.intake(.people(2, at: now)).value.count == 2)

            try await database.script("CREATE TABLE public.gate AS SELECT false AS is_open")
            async let other: Void = database.play(Self.holdGate)
            try await database.waitForHolders()
            let recorded = try await worker.intake(.people(3, from: 10, at: now))
            #expect(recorded.value.isEmpty)
            #expect(recorded.outbox.map { $0.json?.text("reason") } == Array(repeating: "quota_tenant", count: 3))
            #expect(try await database.holders == 1)
            try await database.script("UPDATE public.gate SET is_open = true")
            try await other
        }
    }

    /// Locks the tenant's gate until the test opens `public.gate`.
    private static let holdGate = """
        BEGIN;
        SELECT courier.lock_tenants('{default}');
        SELECT pg_advisory_xact_lock(1);
        \(LedgerDatabase.waiting(for: "SELECT FROM public.gate WHERE is_open"))
        ROLLBACK;
        """
}
