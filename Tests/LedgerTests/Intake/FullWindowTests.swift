// SPDX-License-Identifier: Apache-2.0

import Formats
import TestSupport
import Testing
import Verification

@testable import Ledger

@Suite struct FullWindowTests {
    private static func policy(_ count: Int) -> Policy {
        .test { tenant in
            tenant.limits = LimitPolicy(
                perRecipient: [],
                perIP: [RateLimit(count: count, per: .seconds(3600))],
                perTenant: []
            )
        }
    }

    /// Requests of different people, all from one address.
    private static func requests(_ count: Int, from first: Int, at time: Timestamp) -> [InboundRecord] {
        (first..<(first + count)).map { person in
            .request(
                id: "p\(person)",
                phoneNumber: "+4915\(100_000_000 + person)",
                offset: Int64(person),
                at: time,
                more: #","client":{"ip":"192.0.2.1"}"#
            )
        }
    }

    @Test(.timeLimit(.minutes(5)))
    func `an address at its limit is refused without waiting for another worker's batch`() async throws {
        try await LedgerDatabase.with { database in
            let worker = LedgerWorker(database.ledger(), policy: Self.policy(2))
            let now = try await worker.now()
            #expect(try await worker.intake(Self.requests(3, from: 0, at: now)).value.count == 2)

            try await database.script("CREATE TABLE public.gate AS SELECT false AS is_open")
            async let other: Void = database.play(Self.holdWindows)
            try await database.waitForHolders()
            let recorded = try await worker.intake(Self.requests(3, from: 10, at: now))
            #expect(recorded.value.isEmpty)
            #expect(recorded.outbox.map { $0.json?.text("reason") } == Array(repeating: "quota_ip", count: 3))
            #expect(try await database.holders == 1)
            try await database.script("UPDATE public.gate SET is_open = true")
            try await other
        }
    }

    @Test func `what is full under one policy and not under the next is counted in its row`() async throws {
        try await LedgerDatabase.with { database in
            let ledger = database.ledger()
            let strict = LedgerWorker(ledger, policy: Self.policy(2))
            let now = try await strict.now()
            #expect(try await strict.intake(Self.requests(3, from: 0, at: now)).value.count == 2)
            let generous = Self.policy(5)
            #expect(
                try await LedgerWorker(database.ledger(), policy: generous)
                    .intake(Self.requests(1, from: 10, at: now)).value.count == 1
            )
            let recorded = try await LedgerWorker(ledger, policy: generous).intake(Self.requests(4, from: 20, at: now))
            #expect(recorded.value.count == 2)
            #expect(try await database.count("SELECT count(*) FROM courier.limit_window") == 1)
            #expect(try await database.count("SELECT count(*) FROM courier.send") == 5)
        }
    }

    @Test func `a window is remembered for a few seconds, and no longer for being asked for`() {
        let windows = FullWindows()
        let start = ContinuousClock.now
        let key = LimitKey(scope: .ip, tenant: "default", fingerprint: [1, 2, 3])
        let other = LimitKey(scope: .ip, tenant: "default", fingerprint: [4])
        windows.note([key: LimitWindow()], at: start)
        #expect(windows.among([other, key], at: start + FullWindows.memory - .nanoseconds(1)) == [key: LimitWindow()])
        #expect(windows.among([key], at: start + FullWindows.memory).isEmpty)
        windows.note([key: LimitWindow(), other: LimitWindow()], at: start)
        windows.forget([key])
        #expect(windows.among([key, other], at: start) == [other: LimitWindow()])
    }

    /// Locks the address's window until the test releases it.
    private static let holdWindows = """
        BEGIN;
        SELECT FROM courier.limit_window FOR UPDATE;
        SELECT pg_advisory_xact_lock(1);
        \(LedgerDatabase.waiting(for: "SELECT FROM public.gate WHERE is_open"))
        ROLLBACK;
        """
}
