// SPDX-License-Identifier: Apache-2.0

import Formats
import PostgresClient
import TestSupport
import Testing
import Verification

@testable import Ledger

/// Tests the leases of sends: sends that are claimed together share one lease.
@Suite struct ParcelTests {
    @Test func `claims are one parcel until the last of them has an outcome`() async throws {
        try await LedgerDatabase.with { database in
            let worker = LedgerWorker(database.ledger())
            let claims = try await worker.claims(5)
            #expect(try await database.parcels == 1)
            _ = try await worker.settle(Array(claims[..<4]), .sent)
            #expect(try await database.parcels == 1)
            _ = try await worker.settle([claims[4]], .sent)
            #expect(try await database.parcels == 0)
        }
    }

    @Test func `what is delayed comes at its own time, though its parcel is due before`() async throws {
        try await LedgerDatabase.with { database in
            let worker = LedgerWorker(database.ledger())
            let claims = try await worker.claims(3)
            _ = try await worker.settle([claims[0]], .retry(after: .seconds(600)))
            try await worker.ledger.release([claims[1]])
            #expect(try await database.parcels == 3)
            #expect(try await worker.ledger.sweepSends(capacity: 9).value.map(\.id) == [claims[1].id])

            try await database.script(
                "UPDATE courier.parcel SET lease_until = clock_timestamp() WHERE cardinality(sends) = 3"
            )
            let swept = try await database.ledger().sweepSends(capacity: 9).value
            #expect(swept.map(\.id) == [claims[2].id])
            #expect(try await database.parcels == 3)
        }
    }

    @Test func `a sweep locks no more parcels than it has room for`() async throws {
        try await LedgerDatabase.with { database in
            let ledger = database.ledger()
            let worker = LedgerWorker(ledger)
            for pair in 0..<4 { _ = try await worker.claims(2, from: 2 * pair) }
            try await database.lapseSends()
            let locked = try await database.pool.withTransaction { transaction in
                let count = Statement("SELECT count(*) FROM courier.parcel WHERE xmax::text <> '0'").repeated
                return try transaction.run([ledger.lockDueParcels(since: nil, holding: 3), count])[1].onlyRow.int64(0)
            }
            #expect(locked == 2)
            #expect(try await ledger.sweepSends(capacity: 3).value.count == 3)
        }
    }

    @Test func `a delay that is recorded twice is due once`() async throws {
        try await LedgerDatabase.with { database in
            let worker = LedgerWorker(database.ledger())
            let claim = try await worker.claim()
            for _ in 0..<2 { _ = try await worker.settle([claim], .retry(after: .zero)) }
            let swept = try await worker.ledger.sweepSends(capacity: 9).value
            #expect(swept.map(\.id) == [claim.id])
            #expect(swept.map(\.reference.fence) == [3])
            _ = try await worker.settle(swept, .sent)
            #expect(try await worker.ledger.sweepSends(capacity: 9).value.isEmpty)
            #expect(try await database.parcels == 0)
        }
    }

    @Test func `a parcel whose worker forgot it goes with the next sweep behind its lease`() async throws {
        try await LedgerDatabase.with { database in
            let claims = try await LedgerWorker(database.ledger()).claims(2)
            // The same as after a COMMIT whose answer was lost.
            _ = try await LedgerWorker(database.ledger()).settle(claims, .sent)
            #expect(try await database.parcels == 1)
            try await database.lapseSends()
            #expect(try await database.ledger().sweepSends(capacity: 9).value.isEmpty)
            #expect(try await database.parcels == 0)
        }
    }

    @Test func `outcomes of two transactions at a time empty their parcel`() {
        let held = OpenParcels()
        let claims = [1, 2].map(SendReference.test).map(\.claim)
        held.add(UUIDValue(7), claims, for: .seconds(60))
        for claim in claims { #expect(held.plan(ending: [claim]).ended.isEmpty) }
        for plan in claims.map({ held.plan(ending: [$0]) }) { held.finish(plan) }
        let emptied = held.plan(ending: [])
        #expect(emptied.ended == [UUIDValue(7): claims])
        held.finish(emptied)
        #expect(held.plan(ending: []).ended.isEmpty)
    }

    @Test func `a claim of an older fence is in no parcel, and a parcel is forgotten long after its lease`() {
        let held = OpenParcels()
        let start = ContinuousClock.now
        let old = SendReference.test(1)
        held.add(UUIDValue(7), [old.claim], for: .seconds(60), now: start)
        held.add(UUIDValue(8), [old.reclaimed.claim], for: .seconds(60), now: start + .seconds(31))
        #expect(held.groups(of: [old.claim, old.reclaimed.claim]) == [nil, UUIDValue(8)])
        held.extend([UUIDValue(8)], for: .seconds(60), now: start + .seconds(80))
        held.add(UUIDValue(9), [], for: .seconds(60), now: start + .seconds(120))
        #expect(held.groups(of: [old.reclaimed.claim]) == [UUIDValue(8)])
        held.add(UUIDValue(9), [], for: .seconds(60), now: start + .seconds(150))
        #expect(held.groups(of: [old.reclaimed.claim]) == [nil])
    }
}

extension LedgerDatabase {
    fileprivate var parcels: Int64 {
        get async throws { try await count("SELECT count(*) FROM courier.parcel") }
    }
}
