// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing
import Verification

@testable import Ledger

@Suite struct PackTests {
    @Test func `the first events of a transaction are one row until all of them are published`() async throws {
        try await LedgerDatabase.with { database in
            let worker = LedgerWorker(database.ledger())
            let events = try await worker.settle(try await worker.claims(10), .sent).outbox
            #expect(events.map(\.sequence) == [Int32](repeating: 1, count: 10))
            #expect(try await database.packs == 1)
            #expect(try await database.rows == 0)
            #expect(try await database.count("SELECT count(*) FROM courier.unpublished") == 10)
            #expect(try await worker.ledger.backlog().outbox == 10)

            try await worker.ledger.published(Array(events[..<9]))
            #expect(try await database.packs == 1)
            try await worker.ledger.published([events[9]])
            #expect(try await database.count("SELECT count(*) FROM courier.unpublished") == 0)
            #expect(try await worker.ledger.backlog().outbox == 0)
        }
    }

    @Test func `what holds up its pack for long becomes rows, and holds up its own streams alone`() async throws {
        try await LedgerDatabase.with { database in
            let worker = LedgerWorker(database.ledger())
            let events = try await worker.settle(try await worker.claims(4), .sent).outbox
            let published = Array(events[..<3])
            try await worker.ledger.published(published)
            let first = try await worker.intake(.people(4, round: 1, at: try await worker.now())).outbox
            #expect(first.isEmpty, "they wait for the pack")

            try await eventually("the pack is written out") {
                try await worker.ledger.published([])
                return try await database.packs == 0
            }
            #expect(
                try await database.count("SELECT count(*) FROM courier.outbox WHERE sequence = 1") == 1,
                "what is published is not written again"
            )
            let swept = try await worker.ledger.sweepOutbox()
            #expect(Set(swept.map(\.stream)) == Set(published.map(\.stream)))
            #expect(swept.map(\.sequence) == [2, 2, 2])

            #expect(try await worker.ledger.published([events[3]]), "one waits for this")
            #expect(try await worker.ledger.sweepOutbox().map(\.sequence) == [2])
        }
    }

    @Test func `a pack of which nothing is published stays as it is`() async throws {
        try await LedgerDatabase.with { database in
            let worker = LedgerWorker(database.ledger())
            _ = try await worker.settle(try await worker.claims(2), .sent)
            // Longer than those that are published would wait.
            try await Task.sleep(for: .milliseconds(1200))
            try await worker.ledger.published([])
            #expect(try await database.packs == 1)
            #expect(try await database.rows == 0)
        }
    }

    @Test func `a pack of which something is given back becomes rows at once`() async throws {
        try await LedgerDatabase.with { database in
            let worker = LedgerWorker(database.ledger())
            let events = try await worker.settle(try await worker.claims(3), .sent).outbox
            try await worker.ledger.published([events[0]])
            try await worker.ledger.giveBack([events[1]], after: .zero)
            #expect(try await database.packs == 0)
            #expect(try await database.rows == 2)
            #expect(try await worker.ledger.sweepOutbox() == [events[1]], "the other one is still on its way")
            try await worker.ledger.published([events[1], events[2]])
            #expect(try await database.rows == 0)
        }
    }

    @Test func `a pack is taken over once its lease is over, and its worker's late word counts`() async throws {
        try await LedgerDatabase.with { database in
            let worker = LedgerWorker(database.ledger())
            let events = try await worker.settle(try await worker.claims(6), .sent).outbox
            let other = database.ledger(sweepSize: 4)
            #expect(try await other.sweepOutbox().isEmpty)
            try await database.lapseOutbox()
            let swept = try await other.sweepOutbox()
            #expect(swept.count == 4)
            #expect(swept.allSatisfy(events.contains))
            #expect(try await database.packs == 0)

            try await worker.ledger.published(events)
            #expect(try await database.rows == 0)
            #expect(try await !other.published(swept))
        }
    }

    @Test func `a pack is forgotten with its lease, whoever has its records`() {
        let packs = OpenPacks()
        let start = ContinuousClock.now
        let record = OutboxRecord(
            stream: UUIDValue(0x7 << 76 | 1),
            sequence: 1,
            isDeadLetter: false,
            key: nil,
            value: nil,
            headers: []
        )
        packs.add(UUIDValue(1), [record.stream, UUIDValue(0x7 << 76 | 2)], lease: .seconds(30), now: start)
        packs.finish(packs.plan(published: [], now: start), now: start + .seconds(29))
        #expect(packs.plan(published: [record], now: start).rows.isEmpty)
        packs.finish(packs.plan(published: [], now: start), now: start + .seconds(31))
        #expect(packs.plan(published: [record], now: start).rows == [record])
    }

    @Test func `a pack of a session that is under way is nobody else's`() async throws {
        try await LedgerDatabase.with(connections: 2) { database in
            let worker = LedgerWorker(database.ledger())
            let events = try await worker.settle(try await worker.claims(2), .sent).outbox
            try await database.lapseOutbox()
            let both = try await inParallel(2) { _ in try await database.ledger().sweepOutbox() }
            #expect(both.flatMap(\.self).count == 2)
            #expect(both.flatMap(\.self).allSatisfy(events.contains))
        }
    }
}

extension LedgerDatabase {
    fileprivate var packs: Int64 {
        get async throws { try await count("SELECT count(*) FROM courier.outbox_pack") }
    }

    fileprivate var rows: Int64 {
        get async throws { try await count("SELECT count(*) FROM courier.outbox") }
    }
}
