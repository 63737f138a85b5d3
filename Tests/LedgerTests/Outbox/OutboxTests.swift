// SPDX-License-Identifier: Apache-2.0

import Formats
import Ledger
import Synchronization
import TestSupport
import TestTools
import Testing
import Verification

@Suite struct OutboxTests {
    @Test func `a later event is parked while an earlier one of its verification is unpublished`() async throws {
        try await LedgerDatabase.with { database in
            let worker = LedgerWorker(database.ledger())
            let first = try await worker.settle(try await worker.claims(), .sent)
            #expect(first.outbox.map(\.sequence) == [1])
            let now = try await worker.now()
            let parked = try await worker.intake(.people(1, round: 1, at: now) + .people(1, round: 2, at: now))

            #expect(parked.outbox.isEmpty)
            #expect(try await database.count("SELECT count(*) FROM courier.unpublished") == 3)
            #expect(try await worker.ledger.sweepOutbox().isEmpty)
            #expect(try await worker.ledger.published(first.outbox), "others wait for this")
            let run = try await worker.ledger.sweepOutbox()
            #expect(run.map(\.sequence) == [2, 3])
            #expect(run.map { $0.json?.text("status") } == ["suppressed", "suppressed"])
            #expect(try await worker.ledger.sweepOutbox().isEmpty)
            #expect(try await !worker.ledger.published(run))
            #expect(try await database.count("SELECT count(*) FROM courier.unpublished") == 0)
        }
    }

    @Test func `of two events of one verification in one transaction the later one is parked`() async throws {
        try await LedgerDatabase.with { database in
            let worker = LedgerWorker(database.ledger())
            try await worker.publish(try await worker.settle(try await worker.claims(2), .sent))
            let now = try await worker.now()
            let handedOver = try await worker.intake(.people(2, round: 1, at: now) + .people(1, round: 2, at: now))
                .outbox

            #expect(handedOver.map(\.sequence) == [2, 2])
            #expect(try await worker.ledger.sweepOutbox().isEmpty)
            try await worker.ledger.published(handedOver)
            #expect(try await worker.ledger.sweepOutbox().map(\.sequence) == [3])
        }
    }

    @Test func `once the earlier event is published, the next one is handed over at once`() async throws {
        try await LedgerDatabase.with { database in
            let worker = LedgerWorker(database.ledger())
            try await worker.publish(try await worker.settle(try await worker.claims(), .sent))
            let next = try await worker.intake(.people(1, round: 1, at: try await worker.now()))
            #expect(next.outbox.map(\.sequence) == [2])
        }
    }

    @Test func `a record that its worker left is taken over after the lease, with what waits behind it`() async throws {
        try await LedgerDatabase.with { database in
            let worker = LedgerWorker(database.ledger())
            let first = try await worker.settle(try await worker.claims(3), .sent)
            _ = try await worker.intake(.people(3, round: 1, at: try await worker.now()))
            #expect(try await worker.ledger.sweepOutbox().isEmpty)
            try await database.lapseOutbox()
            let swept = try await worker.ledger.sweepOutbox()

            #expect(swept.map(\.sequence) == [1, 1, 1, 2, 2, 2])
            #expect(first.outbox.allSatisfy(swept.contains))
            #expect(try await worker.ledger.sweepOutbox().isEmpty)
            // Both workers may publish the event, with the same event id. The second one finds no row to delete.
            try await worker.ledger.published(swept)
            try await worker.publish(first)
            #expect(try await database.count("SELECT count(*) FROM courier.unpublished") == 0)
        }
    }

    @Test func `after a standby took over no event has an id that an earlier one may have`() async throws {
        try await LedgerDatabase.with { database in
            let real = try await database.count("SELECT courier.timeline()::int8")
            #expect(real == (try await database.count("SELECT timeline_id::int8 FROM pg_control_checkpoint()")))
            let worker = LedgerWorker(database.ledger())
            let claim = try await worker.claim()
            let sent = try await worker.settle([claim], .sent).outbox
            let id = claim.reference.verificationID.uuid
            #expect(sent.map(\.eventID) == ["\(id)-1"])
            try await worker.ledger.published(sent)

            try await database.script("CREATE OR REPLACE FUNCTION courier.timeline() RETURNS integer RETURN 2")
            try await database.withPool { pool in
                let promoted = LedgerWorker(database.ledger(on: pool))
                let receipts = [ReceivedReceipt(.of(claim, .delivered))]
                let told = try await promoted.ledger.receive(receipts, deadLetters: []).outbox
                #expect(told.map(\.eventID) == ["\(id)-2-2"])
                let other = try await promoted.claim(2)
                let unknown = try await promoted.settle([other], .unknown(.timeout)).outbox
                #expect(unknown.map(\.eventID) == ["\(other.reference.verificationID.uuid)-1-2"])
                let refused = try await promoted.intake([
                    .request(id: "r1", phoneNumber: "+1", at: try await promoted.now())
                ]).outbox
                #expect(refused.count == 1 && refused.allSatisfy { $0.eventID?.hasSuffix("-1-2") == true })
            }
        }
    }

    @Test func `a stream that is given back goes after the pause, and no other stream does`() async throws {
        try await LedgerDatabase.with { database in
            let worker = LedgerWorker(database.ledger())
            let events = try await worker.settle(try await worker.claims(2), .sent).outbox
            _ = try await worker.intake(.people(2, round: 1, at: try await worker.now()))
            let refused = [events[0]]
            try await worker.ledger.release(refused, after: .seconds(3600))
            #expect(try await worker.ledger.sweepOutbox().isEmpty, "a pause makes no lease longer")
            try await worker.ledger.release(refused, after: .zero)
            let swept = try await worker.ledger.sweepOutbox()
            #expect(swept.map(\.stream) == [events[0].stream, events[0].stream])
            #expect(swept.map(\.sequence) == [1, 2])
        }
    }

    @Test func `a stream that is recalled goes at once, unless somebody took it over meanwhile`() async throws {
        try await LedgerDatabase.with { database in
            let worker = LedgerWorker(database.ledger())
            let events = try await worker.settle(try await worker.claims(2), .sent).outbox
            let streams = events.map(\.stream)
            try await worker.ledger.release([events[0]], after: .seconds(10))
            #expect(try await worker.ledger.sweepOutbox().isEmpty)
            try await worker.ledger.recall(streams, within: .seconds(16))
            #expect(try await worker.ledger.sweepOutbox().map(\.stream) == [streams[0]])
            try await worker.ledger.recall(streams, within: .seconds(16))
            #expect(try await worker.ledger.sweepOutbox().isEmpty, "both have the lease of who publishes them")
        }
    }

    @Test func `a sweep's size may cut a run, whose rest goes when the beginning is published`() async throws {
        try await LedgerDatabase.with { database in
            try await database.park(streams: 2, records: 3)
            let sweeper = database.ledger(sweepSize: 4)
            let first = try await sweeper.sweepOutbox()
            #expect(first.map(\.sequence) == [1, 1, 2, 3])
            #expect(try await sweeper.sweepOutbox().isEmpty)
            #expect(try await sweeper.published(first))
            #expect(try await sweeper.sweepOutbox().map(\.sequence) == [2, 3])
        }
    }

    @Test func `a long stream goes in runs, and those far behind hide nobody`() async throws {
        try await LedgerDatabase.with { database in
            try await database.park(streams: 1, records: 1500)
            try await database.script(
                """
                INSERT INTO courier.outbox (stream, sequence, dead_letter, headers, lease_until)
                SELECT gen_random_uuid(), 1, true, '', '-infinity' FROM generate_series(1, 3)
                """
            )
            let sweeper = database.ledger(sweepSize: 100)
            var (sequences, others, sweeps): ([Int32], Int, Int) = ([], 0, 0)
            while others < 3, sweeps < 20 {
                sweeps += 1
                let records = try await sweeper.sweepOutbox()
                sequences += records.filter { !$0.isDeadLetter }.map(\.sequence)
                others += records.count(where: \.isDeadLetter)
                try await sweeper.published(records)
            }
            #expect(others == 3)
            #expect(sweeps <= 6, "four hundred at a time")
            try await eventually("the whole stream has gone", within: .seconds(120)) {
                let records = try await sweeper.sweepOutbox()
                #expect(records.count <= 32)
                sequences += records.map(\.sequence)
                try await sweeper.published(records)
                return sequences.count >= 1500
            }
            #expect(sequences == Array(1...1500))
        }
    }

    @Test func `a sweep takes no more than its size`() async throws {
        try await LedgerDatabase.with { database in
            let worker = LedgerWorker(database.ledger())
            _ = try await worker.settle(try await worker.claims(10), .sent)
            try await database.lapseOutbox()
            let sweeper = database.ledger(sweepSize: 4)
            var sizes: [Int] = []
            for _ in 0..<4 { sizes.append(try await sweeper.sweepOutbox().count) }
            #expect(sizes == [4, 4, 2, 0])
        }
    }

    @Test func `a sweep takes no more than sixteen MiB, or one record that is larger`() async throws {
        try await LedgerDatabase.with { database in
            try await database.script(
                """
                INSERT INTO courier.outbox (stream, sequence, dead_letter, value, headers, lease_until)
                SELECT gen_random_uuid(), 1, true, convert_to(repeat('x', size << 20), 'UTF8'), '', moment::timestamptz
                FROM (VALUES (7, '2026-01-01 00:00+00'), (8, '2026-01-01 00:01+00'), (2, '2026-01-01 00:02+00'),
                    (20, '2026-01-01 00:03+00')) AS row(size, moment)
                """
            )
            var sizes: [[Int]] = []
            for _ in 0..<4 {
                let swept = try await database.ledger().sweepOutbox()
                sizes.append(swept.map { ($0.value?.count ?? 0) >> 20 }.sorted())
            }
            #expect(sizes == [[7, 8], [2], [20], []])
        }
    }

    @Test func `a sweep's bytes are those of keys and headers too, and as many as its settings say`() async throws {
        try await LedgerDatabase.with { database in
            try await database.script(
                """
                INSERT INTO courier.outbox (stream, sequence, dead_letter, key, value, headers, lease_until)
                SELECT gen_random_uuid(), 1, true, part.key, part.value, part.headers, '2026-01-01 00:00+00'
                FROM generate_series(1, 2), (VALUES (repeat('k', 600)::bytea, NULL::bytea, ''::bytea),
                    (NULL, repeat('v', 600)::bytea, ''), (NULL, NULL, repeat('h', 600)::bytea)) AS part(key, value, headers)
                """
            )
            let settings = WorkerSettings.test { $0.sweepBytes = 1300 }
            let ledger = PostgresLedger(pool: database.pool, keys: KeySource(.test), settings: settings)
            var counts: [Int] = []
            for _ in 0..<4 { counts.append(try await ledger.sweepOutbox().count) }
            #expect(counts == [2, 2, 2, 0])
        }
    }

    /// Nearly every stream's first record is leased, and the records behind it are parked.
    @Test func `those that wait behind others hide nobody, and are not read again and again`() async throws {
        try await LedgerDatabase.with { database in
            try await database.script(
                """
                CREATE TEMP TABLE stream AS SELECT gen_random_uuid() AS id, n FROM generate_series(1, 3000) AS n;
                INSERT INTO courier.outbox (stream, sequence, dead_letter, headers, lease_until)
                SELECT id, 1, false, '', CASE WHEN n <= 3 THEN now() - interval '1 minute' ELSE now() + interval '1 hour' END
                FROM stream;
                INSERT INTO courier.outbox (stream, sequence, dead_letter, headers, lease_until)
                SELECT id, 2, false, '', '-infinity' FROM stream;
                ANALYZE courier.outbox;
                """
            )
            try await database.withPool(connections: 1, settings: PostgresLedger.sessionSettings) { pool in
                let ledger = database.ledger(on: pool, sweepSize: 100)
                var found = 0
                var sweeps = 0
                while found < 3, sweeps < 20 {
                    sweeps += 1
                    let cost = try await ReadCost.measure(pool) {
                        found += try await ledger.sweepOutbox().count { $0.sequence == 1 }
                    }
                    #expect(cost.largest <= 20 * 400, "\(cost)")
                }
                #expect(found == 3)
                #expect(sweeps <= 8, "four hundred of three thousand at a time")
            }
        }
    }

    @Test(.timeLimit(.minutes(5))) func `parallel sweepers share no record and keep each verification's order`()
        async throws
    {
        try await LedgerDatabase.with(connections: 8) { database in
            let worker = LedgerWorker(database.ledger())
            _ = try await worker.settle(try await worker.claims(120), .sent)
            for round in 1...3 {
                _ = try await worker.intake(.people(120, round: round, at: try await worker.now()))
            }
            try await database.lapseOutbox()
            let sweeper = database.ledger(sweepSize: 20)
            let published = PublishedLog()
            _ = try await inParallel(8) { _ in
                while try await database.count("SELECT count(*) FROM courier.unpublished") > 0 {
                    try Task.checkCancellation()
                    let records = try await sweeper.sweepOutbox()
                    published.append(records)
                    try await sweeper.published(records)
                }
            }

            let streams = Dictionary(grouping: published.records, by: \.stream)
            #expect(streams.count == 120)
            #expect(streams.values.allSatisfy { $0.map(\.sequence) == [1, 2, 3, 4] })
        }
    }

    @Test func `a dead letter keeps a missing key, a missing value and headers byte by byte`() async throws {
        try await LedgerDatabase.with { database in
            let worker = LedgerWorker(database.ledger())
            let headers = [
                RecordField(name: "binary", value: [0, 0xff, 0xfe, 0x80]), RecordField(name: "empty", value: []),
                RecordField(name: "none", value: nil), RecordField(name: "binary", value: [1]),
                RecordField(name: "", value: [2]),
            ]
            func record(_ offset: Int64, key: [UInt8]?, value: [UInt8]?) async throws -> InboundRecord {
                InboundRecord(
                    topic: "verification.requests",
                    partition: 3,
                    offset: offset,
                    timestamp: try await worker.now(),
                    key: key,
                    value: value,
                    headers: headers
                )
            }
            let handed = try await worker.intake([
                try await record(1, key: nil, value: nil),
                try await record(2, key: [0xff, 0], value: [0xc3, 0x28, 0]),
                try await record(3, key: [], value: []),
            ]).outbox
            try await database.lapseOutbox()
            let swept = try await worker.ledger.sweepOutbox()

            #expect(handed.map(\.key) == [nil, [0xff, 0], []])
            #expect(handed.map(\.value) == [nil, [0xc3, 0x28, 0], []])
            for record in handed {
                #expect(record.isDeadLetter)
                #expect(Array(record.headers.prefix(headers.count)) == headers)
                #expect(swept.contains(record))
            }
            #expect(swept.count == 3)
        }
    }

    @Test func `a record decided again after a lost transaction makes the same event ids`() async throws {
        let records: @Sendable (Timestamp) -> [InboundRecord] = { time in
            [
                .raw("{", offset: 1, at: time), .request(id: "r2", phoneNumber: "12", offset: 2, at: time),
                .request(id: "r3", offset: 3, at: time - .seconds(400)),
            ]
        }
        // Uses two databases, since in the second one the first transaction never happened.
        let time = try await LedgerDatabase.with { try await LedgerWorker($0.ledger()).now() }
        let once = try await LedgerDatabase.with { try await LedgerWorker($0.ledger()).intake(records(time)).outbox }
        let again = try await LedgerDatabase.with { try await LedgerWorker($0.ledger()).intake(records(time)).outbox }

        #expect(once.count == 3)
        #expect(once.map(\.stream) == again.map(\.stream))
        #expect(once.map(\.identifier) == again.map(\.identifier))
        #expect(Set(once.map(\.identifier)).count == 3)
    }

    @Test func `an event's id is its verification and its number`() async throws {
        try await LedgerDatabase.with { database in
            let worker = LedgerWorker(database.ledger())
            let claim = try await worker.claim()
            let event = try #require(try await worker.settle([claim], .sent).outbox.first)
            #expect(event.identifier == Array("\(claim.reference.verificationID)-1".utf8))
        }
    }
}

/// The records that concurrent workers published, in order of publication.
private final class PublishedLog: Sendable {
    private let log = Mutex<[OutboxRecord]>([])

    var records: [OutboxRecord] { log.withLock { $0 } }

    func append(_ records: [OutboxRecord]) {
        log.withLock { $0 += records }
    }
}

extension OutboxRecord {
    /// The id by which consumers deduplicate.
    fileprivate var identifier: [UInt8]? {
        headers.first { $0.name == (isDeadLetter ? "dead-letter-id" : "ce_id") }?.value
    }
}

extension LedgerDatabase {
    /// Inserts streams of `records` records each, without a lease.
    fileprivate func park(streams: Int, records: Int) async throws {
        try await script(
            """
            INSERT INTO courier.outbox (stream, sequence, dead_letter, headers, lease_until)
            SELECT id, sequence, false, '', '-infinity'
            FROM (SELECT gen_random_uuid() AS id FROM generate_series(1, \(streams))) AS stream,
                generate_series(1, \(records)) AS sequence
            ORDER BY id, sequence
            """
        )
    }
}
