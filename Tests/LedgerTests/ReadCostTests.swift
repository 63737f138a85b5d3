// SPDX-License-Identifier: Apache-2.0

import Administration
import Ledger
import PostgresClient
import TestSupport
import Testing
import Verification

/// Checks that each method reads a few rows per item, however large the tables and however old their statistics.
///
/// Without statistics the planner tends to join a batch with a whole table or a whole partial index.
@Suite struct ReadCostTests {
    /// Maximum of entries that one method reads of one table per item.
    ///
    /// An item is found, locked, checked for a conflict and changed, in two partitions and several row versions.
    private static let readsPerItem: Int64 = 10

    /// Entries that a method reads for any batch: an intake deletes a hundred old admissions of a tenant.
    private static let readsPerBatch: Int64 = 150

    /// The planner's statistics about the tables.
    enum Statistics: String, CaseIterable {
        /// The tables were never analysed.
        case none

        /// The tables were last analysed while they were empty.
        case old
        case current
    }

    @Test(
        .timeLimit(.minutes(5)),
        arguments: [(1, Statistics.none), (100, .none), (500, .none), (100, .old), (500, .old), (500, .current)]
    )
    func `a batch reads a few rows of full tables`(size: Int, statistics: Statistics) async throws {
        try await LedgerDatabase.with { database in
            if statistics == .old { try await database.script("ANALYZE") }
            try await database.fill()
            if statistics == .current { try await database.script("ANALYZE") }
            try await database.withPool(connections: 1, settings: PostgresLedger.sessionSettings) { pool in
                let ledger = database.ledger(on: pool)
                let steps = Steps(database: database, worker: LedgerWorker(ledger, policy: .counting), size: size)
                for (name, cost) in try await steps.costs(pool) {
                    #expect(cost.largest <= Self.readsPerItem * Int64(size) + Self.readsPerBatch, "\(name): \(cost)")
                }
            }
        }
    }

    @Test func `what finds nothing to do reads nothing of full tables`() async throws {
        try await LedgerDatabase.with { database in
            try await database.fill()
            try await database.withPool(connections: 1, settings: PostgresLedger.sessionSettings) { pool in
                let ledger = database.ledger(on: pool)
                for capacity in [0, 1000] {
                    let cost = try await ReadCost.measure(pool) { _ = try await ledger.sweepSends(capacity: capacity) }
                    #expect(cost.largest <= 10, "sweepSends: \(cost)")
                }
                let expired = try await ReadCost.measure(pool) { _ = try await ledger.sweepExpired() }
                #expect(expired.largest <= 10, "sweepExpired: \(expired)")
                let outbox = try await ReadCost.measure(pool) { _ = try await ledger.sweepOutbox() }
                #expect(outbox.largest <= 10, "sweepOutbox: \(outbox)")
            }
        }
    }

    @Test(arguments: [0, 1000], [Statistics.none, .old])
    func `a sweep reads a bounded number of many sends that are due`(
        capacity: Int,
        statistics: Statistics
    ) async throws {
        try await LedgerDatabase.with { database in
            try await database.fill()
            if statistics == .old {
                // The last analysis ran while no send was in flight.
                try await database.script("DELETE FROM courier.parcel")
                try await database.script("ANALYZE")
                try await database.script(LedgerDatabase.lease)
            }
            try await database.script(
                """
                UPDATE courier.parcel SET lease_until = now() - interval '1 s';
                UPDATE courier.send SET state = 'pending', deadline = '-infinity';
                UPDATE courier.send SET state = 'dispatching'
                WHERE id IN (SELECT unnest(sends[1:2]) FROM courier.parcel LIMIT 20);
                UPDATE courier.parcel SET lease_until = now() - interval '2 s'
                WHERE EXISTS (SELECT FROM courier.send WHERE id = sends[1] AND state = 'dispatching');
                """
            )
            try await database.withPool(connections: 1, settings: PostgresLedger.sessionSettings) { pool in
                let ledger = database.ledger(on: pool)
                let cost = try await ReadCost.measure(pool) { _ = try await ledger.sweepSends(capacity: capacity) }
                let ended = try await database.count(
                    "SELECT count(*) FROM courier.send WHERE state IN ('failed', 'unknown')"
                )
                #expect(ended == (capacity == 0 ? 20 : 500))
                // A sweep reads 500 sends with their verifications. Without capacity it reads four times as many sends.
                #expect(cost.largest <= 7000, "sweepSends: \(cost)")
            }
        }
    }

    @Test func `a guess reads one verification of a full table`() async throws {
        try await LedgerDatabase.with { database in
            try await database.fill()
            let claim = try await LedgerWorker(database.ledger()).claim()
            // Uses no worker's session settings, since a verifier sets its own.
            try await database.withPool(connections: 1) { pool in
                let cost = try await ReadCost.measure(pool) { _ = try await Verifier.test(pool).check(claim) }
                #expect(cost.largest <= 10, "\(cost)")
            }
        }
    }
}

/// The steps of a batch through the ledger, each measured.
private struct Steps {
    let database: LedgerDatabase
    let worker: LedgerWorker
    let size: Int

    private var ledger: PostgresLedger { worker.ledger }

    func costs(_ pool: PostgresPool) async throws -> [(name: String, cost: ReadCost)] {
        var costs: [(name: String, cost: ReadCost)] = []
        func step<Value>(_ name: String, _ work: () async throws -> Value) async throws -> Value {
            var value: Value?
            costs.append((name, try await ReadCost.measure(pool) { value = try await work() }))
            return try #require(value)
        }
        let now = try await worker.now()
        let claims = try await step("intake of new people") { try await worker.intake(.people(size, at: now)).value }
        #expect(claims.count == size)
        let suppressed = try await step("intake of the same people") {
            try await worker.intake(.people(size, round: 1, at: now)).outbox
        }
        #expect(suppressed.count == size)
        _ = try await step("published") { try await ledger.published(suppressed) }
        // Each message has one event then, not another for the request that waits for it.
        try await database.script("UPDATE courier.verification SET waiting = NULL WHERE waiting IS NOT NULL")
        #expect(try await step("markDispatching") { try await ledger.markDispatching(claims) }.count == size)
        let retries = claims.map { SendResult($0, .retry(after: .zero)) }
        #expect(try await step("record of retries") { try await ledger.record(retries) }.outbox.isEmpty)
        let swept = try await step("sweepSends") { try await ledger.sweepSends(capacity: size) }.value
        #expect(swept.count == size)
        try await step("release") { try await ledger.release(swept) }
        let again = try await step("sweepSends of released") { try await ledger.sweepSends(capacity: size) }.value
        _ = try await ledger.markDispatching(again)
        let results = again.map { SendResult($0, .sent) }
        #expect(try await step("record") { try await ledger.record(results) }.outbox.count == size)
        try await database.script(
            """
            UPDATE courier.outbox SET lease_until = '-infinity' WHERE lease_until < now() + interval '5 min';
            UPDATE courier.outbox_pack SET lease_until = '-infinity' WHERE lease_until < now() + interval '5 min';
            """
        )
        let records = try await step("sweepOutbox") { try await ledger.sweepOutbox() }
        #expect(records.count == size)
        _ = try await step("published of swept") { try await ledger.published(records) }
        try await database.script(
            "UPDATE courier.verification SET expires_at = '-infinity', due_at = '-infinity' WHERE policy_version <> 'old'"
        )
        let sweeper = database.ledger(on: pool)
        #expect(try await step("sweepExpired") { try await sweeper.sweepExpired() }.outbox.count == size)
        return costs
    }
}
