// SPDX-License-Identifier: Apache-2.0

import Formats
import Ledger
import Synchronization
import TestSupport
import Testing
import Verification

@Suite struct BegunWindowTests {
    private static let policy = Policy.test { tenant in
        tenant.limits = LimitPolicy(perRecipient: [], perIP: [RateLimit(count: 1, per: .seconds(3600))], perTenant: [])
    }

    @Test(.timeLimit(.minutes(5)))
    func `a window that another worker began meanwhile counts, and only what was written is undone`() async throws {
        try await LedgerDatabase.with { database in
            try await MessageCounter.with(database.url) { counter in
                try await database.withPool(connections: 1, url: counter.url) { pool in
                    let worker = LedgerWorker(database.ledger(on: pool), policy: Self.policy)
                    let now = try await worker.now()
                    // A session's first publication also queries the server's timeline: it is not measured.
                    try await worker.publish(try await worker.intake([.raw("{", offset: 1, at: now)]))
                    _ = try await worker.intake(.people(1, from: 10, at: now))
                    let candidates = try await worker.candidates(.people(3, at: now))
                    let people = try (0..<3).map { person in
                        Recipient.phone(try #require(PhoneNumber("+4915\(100_000_000 + person)")))
                    }

                    async let other: Void = database.play(Self.beginWindow)
                    try await database.waitForHolders()
                    var recorded: Recorded<[ClaimedSend]>?
                    let count = try await counter.measure {
                        recorded = try await worker.intake(candidates: candidates)
                    }
                    try await other

                    #expect(recorded?.value.map(\.recipient) == [people[0], people[2]])
                    #expect(recorded?.outbox.map { $0.json?.text("reason") } == ["quota_ip"])
                    // Round trips: the facts, a COMMIT that conflicts, the ROLLBACK, the window, the second COMMIT.
                    #expect(count.roundTrips == 5)
                    #expect(try await database.count("SELECT count(*) FROM courier.limit_window") == 4)
                }
            }
        }
    }

    @Test(.timeLimit(.minutes(5)))
    func `a batch that breaks no limit behind another worker's new window is decided once`() async throws {
        try await LedgerDatabase.with { database in
            let policy = Policy.test { tenant in
                tenant.limits = LimitPolicy(
                    perRecipient: [],
                    perIP: [RateLimit(count: 2, per: .seconds(3600))],
                    perTenant: []
                )
            }
            let worker = LedgerWorker(database.ledger(), policy: policy)
            let candidates = try await worker.candidates(.people(3, at: try await worker.now()))

            async let other: Void = database.play(Self.beginWindow)
            try await database.waitForHolders()
            let decisions = Mutex(0)
            let rules = IntakeRules(policy: policy, keys: .test, settings: .test) {
                decisions.withLock { $0 += 1 }
                return KernelRandomness()
            }
            let recorded = try await worker.ledger.intake(candidates, by: rules)
            try await other

            #expect(decisions.withLock(\.self) == 1)
            #expect(recorded.value.sends.count == 3 && recorded.outbox.isEmpty)
            let ofBoth: StaticString = "SELECT count(*) FROM courier.limit_window WHERE length(entries) = 24"
            #expect(try await database.count(ofBoth) == 1)
            // The window counts both admissions, so the next request is over the limit.
            let later = try await worker.intake([
                .request(
                    id: "later",
                    phoneNumber: "+4915100000009",
                    offset: 9,
                    at: try await worker.now(),
                    more: #","client":{"ip":"\#(String.address(of: 1))"}"#
                )
            ])
            #expect(later.outbox.map { $0.json?.text("reason") } == ["quota_ip"])
        }
    }

    /// Inserts the window of the second person's address and keeps its row locked until a worker waits for it.
    private static let beginWindow = """
        BEGIN;
        INSERT INTO courier.limit_window (key, entries, expires_at)
        VALUES ('\(LimitKey.address(.address(of: 1)).digest)',
            int8send((extract(epoch FROM clock_timestamp()) * 1000000)::bigint) || int4send(1), 'infinity');
        SELECT pg_advisory_xact_lock(1);
        \(LedgerDatabase.untilSomebodyWaits)
        COMMIT;
        """
}
