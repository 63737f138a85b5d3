// SPDX-License-Identifier: Apache-2.0

import Formats
import TestSupport
import TestTools
import Testing
import Verification

@testable import Ledger

@Suite struct PackTests {
    @Test func `the events of a transaction are one row until all of them are published`() async throws {
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

            var doOthersWait = false
            try await eventually("the pack is written out") {
                doOthersWait = try await worker.ledger.published([])
                return try await database.packs == 0
            }
            #expect(doOthersWait)
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

    @Test func `a pack that another transaction locks stays, and the others go at once`() async throws {
        try await LedgerDatabase.with { database in
            let worker = LedgerWorker(database.ledger())
            let first = try await worker.settle(try await worker.claims(2), .sent).outbox
            let lock = "BEGIN; SELECT FROM courier.outbox_pack FOR UPDATE; SELECT pg_advisory_xact_lock(1);"
            let released = LedgerDatabase.waiting(for: "SELECT FROM pg_class WHERE relname = 'released'")
            async let holder: Void = database.play(lock + released + "COMMIT")
            try await database.waitForHolders()
            let second = try await worker.settle(try await worker.claims(2, from: 2), .sent).outbox
            let start = ContinuousClock.now
            try await worker.ledger.published(first + second)
            #expect(ContinuousClock.now - start < .milliseconds(900))
            #expect(try await database.packs == 1)

            try await database.script("CREATE TABLE public.released ()")
            try await holder
            try await worker.ledger.published([])
            #expect(try await database.count("SELECT count(*) FROM courier.unpublished") == 0)
        }
    }

    /// A transaction that writes a verification's second event.
    enum Writer: CaseIterable {
        case decision, outcome, outcomeOfChanged, outcomeBesideLate, expiry, sweep, receipt

        func write(
            _ claims: [ClaimedSend],
            _ worker: LedgerWorker,
            _ database: LedgerDatabase
        ) async throws -> [OutboxRecord] {
            switch self {
            case .decision:
                return try await worker.intake(.people(2, round: 1, at: try await worker.now())).outbox
            case .outcome:
                return try await worker.settle(try await Self.resend(worker, database), .sent).outbox
            case .outcomeOfChanged:
                let again = try await Self.resend(worker, database)
                try await database.script("UPDATE courier.verification SET expires_at = expires_at + interval '1 s'")
                return try await worker.settle(again, .sent).outbox
            case .outcomeBesideLate:
                return try await worker.settle(try await Self.resend(worker, database) + claims, .sent).outbox
            case .expiry:
                try await database.script("UPDATE courier.verification SET expires_at = now(), due_at = now()")
                return try await worker.ledger.sweepExpired().outbox
            case .sweep:
                _ = try await worker.ledger.markDispatching(try await Self.resend(worker, database))
                try await database.lapseSends()
                return try await worker.ledger.sweepSends(capacity: 10).outbox
            case .receipt:
                let receipts = claims.map { ReceivedReceipt(.of($0, .delivered)) }
                return try await worker.ledger.receive(receipts, deadLetters: []).outbox
            }
        }

        private static func resend(_ worker: LedgerWorker, _ database: LedgerDatabase) async throws -> [ClaimedSend] {
            try await database.script("UPDATE courier.verification SET resend_after = '-infinity'")
            return try await worker.intake(.people(2, round: 1, at: try await worker.now())).value
        }
    }

    @Test(arguments: Writer.allCases)
    func `later events are in a pack, too, but for those behind an unpublished one`(writer: Writer) async throws {
        try await LedgerDatabase.with { database in
            let worker = LedgerWorker(database.ledger())
            let claims = [try await worker.claim(0), try await worker.claim(1)]
            let published = try await worker.settle([claims[0]], .sent)
            let unpublished = try await worker.settle([claims[1]], .sent)
            try await worker.publish(published)

            let later = try await writer.write(claims, worker, database)
            #expect(later.map(\.stream) == published.outbox.map(\.stream))
            #expect(later.map(\.sequence) == [2])
            #expect(try await database.packs == 2)
            #expect(try await database.rows == 1)

            // New events wait for both unpublished events, one in a pack and one in a row.
            try await worker.publish(unpublished)
            #expect(try await worker.intake(.people(2, round: 2, at: try await worker.now())).outbox.isEmpty)
            let all = try await worker.ledger.publishAll(later)
            for claim in claims {
                let told = all.filter { $0.stream == claim.reference.verificationID.uuid }.map(\.sequence)
                #expect(!told.isEmpty && told == (0..<told.count).map { Int32($0 + 2) })
            }
            #expect(try await database.count("SELECT count(*) FROM courier.unpublished") == 0)
        }
    }

    @Test func `what is left of a pack has its number`() async throws {
        try await LedgerDatabase.with { database in
            let worker = LedgerWorker(database.ledger())
            try await worker.publish(try await worker.settle(try await worker.claims(3), .sent))
            let later = try await worker.intake(.people(3, round: 1, at: try await worker.now())).outbox
            try await worker.ledger.release([later[0]], after: .zero)
            try await database.lapseOutbox()
            #expect(try await database.packs == 0)
            #expect(try await database.ledger().sweepOutbox().map(\.sequence) == [2, 2, 2])
        }
    }

    @Test func `what is taken over from a pack has its number`() async throws {
        try await LedgerDatabase.with { database in
            let worker = LedgerWorker(database.ledger())
            try await worker.publish(try await worker.settle(try await worker.claims(3), .sent))
            _ = try await worker.intake(.people(3, round: 1, at: try await worker.now()))
            try await database.lapseOutbox()
            #expect(try await database.ledger().sweepOutbox().map(\.sequence) == [2, 2, 2])
        }
    }

    @Test func `an outcome waits for what was told since its claim`() async throws {
        try await LedgerDatabase.with { database in
            let worker = LedgerWorker(database.ledger())
            let claims = try await worker.claims(2)
            let told = try await worker.intake(.people(2, round: 1, at: try await worker.now())).outbox
            #expect(told.map(\.sequence) == [1, 1])
            #expect(try await worker.settle(claims, .sent).outbox.isEmpty)
            #expect(try await worker.ledger.publishAll(told).map(\.sequence) == [1, 1, 2, 2, 3, 3])
        }
    }

    @Test func `a refusal is in a pack, a dead letter in none`() async throws {
        try await LedgerDatabase.with { database in
            let worker = LedgerWorker(database.ledger())
            let now = try await worker.now()
            let recorded = try await worker.intake([
                .request(id: "r1", phoneNumber: "+1", at: now), .raw("{", offset: 1, at: now),
            ])
            #expect(recorded.outbox.count == 2)
            #expect(try await database.packs == 1)
            #expect(try await database.count("SELECT count(*) FROM courier.outbox WHERE dead_letter") == 1)
            try await worker.publish(recorded)
            #expect(try await database.count("SELECT count(*) FROM courier.unpublished") == 0)
        }
    }

    @Test func `a pack of which nothing is published stays as it is`() async throws {
        try await LedgerDatabase.with { database in
            let worker = LedgerWorker(database.ledger())
            _ = try await worker.settle(try await worker.claims(2), .sent)
            // The pause is longer than published records would wait.
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
            try await worker.ledger.release([events[1]], after: .zero)
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
        let packs = OpenPacks(maxWait: .seconds(1))
        let start = ContinuousClock.now
        let key = OutboxKey(stream: UUIDValue(0x7 << 76 | 1), sequence: 1)
        let other = OutboxKey(stream: UUIDValue(0x7 << 76 | 2), sequence: 1)
        packs.add(1, [key, other], for: .seconds(30), now: start)
        packs.finish(packs.plan(ending: [], now: start), now: start + .seconds(29))
        #expect(packs.plan(ending: [key], now: start).single.isEmpty)
        packs.finish(packs.plan(ending: [], now: start), now: start + .seconds(31))
        #expect(packs.plan(ending: [key], now: start).single == [key])
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
