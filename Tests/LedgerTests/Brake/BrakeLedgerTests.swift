// SPDX-License-Identifier: Apache-2.0

import Formats
import PostgresClient
import TestSupport
import Testing
import Verification

@testable import Ledger

@Suite struct BrakeLedgerTests {
    private static func reader(_ number: UInt128 = 1) -> UUIDValue { UUIDValue(number) }

    private static func block(
        _ key: BrakeKey = BrakeKey(.prefix, -7),
        _ state: BrakeBlock.State = .blocked,
        beganAt: Timestamp = .test,
        changesAt: Timestamp? = nil,
        isAsleep: Bool = false
    ) -> TenantBlock {
        let block = BrakeBlock(
            key,
            region: "DE",
            state: state,
            beganAt: beganAt,
            changesAt: changesAt ?? beganAt + .seconds(300),
            length: .seconds(300),
            trips: 2,
            shortfall: Shortfall(expected: 12.5, observed: 1),
            probesSent: 6,
            probesApproved: 2,
            refusedAt: beganAt
        )
        return TenantBlock(tenant: "default", block: block, isAsleep: isAsleep)
    }

    // MARK: The reader

    @Test func `one reader is elected until its lease is over or it resigns`() async throws {
        try await LedgerDatabase.with { database in
            let ledger = database.ledger()
            let (one, other) = (Self.reader(1), Self.reader(2))
            let turn = try #require(try await ledger.elect(one, lease: .seconds(60)))
            #expect(turn.countedTo == nil)
            #expect(try await ledger.elect(other, lease: .seconds(60)) == nil)
            #expect(try await ledger.elect(one, lease: .seconds(60)) != nil)
            try await ledger.resign(other)
            #expect(try await ledger.elect(other, lease: .seconds(60)) == nil)
            try await ledger.resign(one)
            #expect(try await ledger.elect(other, lease: .zero) != nil)
            #expect(try await ledger.elect(one, lease: .seconds(60)) != nil)
            #expect(try await ledger.elect(other, lease: .seconds(60)) == nil)
        }
    }

    @Test func `the lag is that of the newest judgement, whoever stored it`() async throws {
        try await LedgerDatabase.with { database in
            let ledger = database.ledger()
            #expect(try await ledger.brakeStatus().lag == nil)
            let now = try #require(try await ledger.elect(Self.reader(1), lease: .zero)).now
            #expect(try await ledger.brakeStatus().lag == nil)
            let judged = now - .seconds(100)
            _ = try await ledger.elect(Self.reader(1), lease: .zero, judgedTo: judged)
            // A takeover reads the last hour again.
            _ = try await ledger.elect(Self.reader(2), lease: .zero, judgedTo: judged - .seconds(900))
            _ = try await ledger.elect(Self.reader(2), lease: .zero, judgedTo: nil)
            let lag = try #require(try await ledger.brakeStatus().lag)
            #expect(lag >= .seconds(100) && lag < .seconds(400))
        }
    }

    @Test func `who is not the reader stores nothing`() async throws {
        try await LedgerDatabase.with { database in
            let ledger = database.ledger()
            _ = try await ledger.elect(Self.reader(1), lease: .seconds(60))
            #expect(try await ledger.store([Self.block()], by: Self.reader(2)) == false)
            #expect(try await ledger.add(Self.counts(1), from: nil, upTo: .test, by: Self.reader(2)) == false)
            #expect(try await database.count("SELECT count(*) FROM courier.brake_block") == 0)
            #expect(try await database.count("SELECT count(*) FROM courier.conversion") == 0)
            #expect(try await ledger.store([Self.block()], by: Self.reader(1)))
            #expect(try await ledger.brakeBlocks().count == 1)
        }
    }

    // MARK: Conversions

    @Test func `a new verification's keys are stored, found by its time, and erased with its person`() async throws {
        try await LedgerDatabase.with { database in
            let ledger = database.ledger()
            let worker = LedgerWorker(ledger)
            let start = try await worker.now()
            let claim = try await worker.claim()
            let id = claim.reference.verificationID
            let beganAt = try #require(id.uuid.version7Time)
            let found = try await ledger.conversions(from: beganAt, to: beganAt + .milliseconds(1))
            let sample = try #require(found["default"]?.first)
            #expect(found.count == 1 && sample.id == id.uuid)
            #expect(sample.region == "DE" && sample.outcome == .waiting && !sample.isConfirmed)
            #expect(sample.client != nil && sample.prefix != nil && sample.range != nil)
            #expect(Set([sample.client, sample.prefix, sample.range]).count == 3)
            #expect(try await ledger.conversions(from: start - .seconds(10), to: beganAt).isEmpty)
            #expect(try await ledger.conversions(from: beganAt + .milliseconds(1), to: start + .seconds(99)).isEmpty)

            // An outcome leaves the keys, an erasure does not.
            _ = try await worker.settle([claim], .sent)
            let settled = try await ledger.conversions(from: beganAt, to: beganAt + .milliseconds(1))
            #expect(settled.keys(id) == sample.keysOnly)
            let fingerprint = Parameter.bytes(CodeKeys.test.fingerprint(of: claim.recipient))
            _ = try await database.text("SELECT courier.erase_recipient(ARRAY[$1], NULL)::text", [fingerprint])
            let left = try await ledger.conversions(from: beganAt, to: beganAt + .milliseconds(1))
            #expect(left.keys(id) == [nil, nil, nil])
        }
    }

    @Test func `only messages to phone numbers of people are conversions`() async throws {
        try await LedgerDatabase.with { database in
            let ledger = database.ledger()
            let worker = LedgerWorker(ledger)
            let now = try await worker.now()
            _ = try await worker.intake([.email(id: "mail", at: now)])
            _ = try await worker.claims(2)
            let slice = (from: now - .seconds(5), to: now + .seconds(60))
            #expect(try await ledger.conversions(from: slice.from, to: slice.to)["default"]?.count == 2)
            try await database.script("UPDATE courier.verification SET fictional = true WHERE channel = 'sms'")
            #expect(try await ledger.conversions(from: slice.from, to: slice.to).isEmpty)
        }
    }

    private static let outcomes: [(columns: String, outcome: ConversionSample.Outcome)] = [
        ("status = NULL", .waiting),
        ("status = 'sent', used_providers = 'main'", .open),
        ("status = 'unknown', used_providers = 'main'", .open),
        ("status = 'expired', used_providers = 'main', state = 'expired'", .open),
        ("status = 'failed'", .unsent),
        ("status = 'undelivered', used_providers = 'main'", .open),
        // The newest message never left, and an earlier one did.
        ("status = 'failed', used_providers = 'main'", .open),
        ("status = 'expired_unsent', used_providers = 'main'", .open),
        ("status = 'failed', used_providers = '!other'", .unsent),
        ("status = 'expired_unsent'", .unsent),
        ("status = 'expired', state = 'expired'", .unsent),
        ("status = 'expired', state = 'expired', used_providers = '!other'", .unsent),
        ("status = 'failed', reason = 'fraud_blocked_by_provider'", .fraud),
        ("status = 'undelivered', state = 'approved', ended_at = clock_timestamp()", .approved),
    ]

    @Test func `the outcome is that of the newest event, unless the code was approved`() async throws {
        try await LedgerDatabase.with { database in
            let ledger = database.ledger()
            let worker = LedgerWorker(ledger)
            let now = try await worker.now()
            _ = try await worker.claim()
            for (columns, outcome) in Self.outcomes {
                try await database.script(
                    """
                    UPDATE courier.verification
                    SET status = NULL, reason = NULL, state = 'live', used_providers = NULL, ended_at = NULL;
                    UPDATE courier.verification SET \(columns);
                    """
                )
                let found = try await ledger.conversions(from: now - .seconds(5), to: now + .seconds(60))
                let sample = try #require(found["default"]?.first)
                #expect(sample.outcome == outcome, "\(columns)")
                #expect(sample.provider == (columns.contains("main") ? "main" : nil))
                #expect((sample.approvedAfter != nil) == (outcome == .approved))
            }
        }
    }

    // MARK: Blocks

    @Test func `blocks are read as they were stored, the ended ones for a day`() async throws {
        try await LedgerDatabase.with { database in
            let ledger = database.ledger()
            let now = try await LedgerWorker(ledger).now()
            _ = try await ledger.elect(Self.reader(), lease: .seconds(60))
            let blocks = [
                Self.block(BrakeKey(.ip, .min), .halfOpen, isAsleep: true), Self.block(BrakeKey(region: "DE")),
                Self.block(BrakeKey(.range, 5), .ended, changesAt: now - .seconds(80_000)),
                Self.block(BrakeKey(.range, 6), .ended, changesAt: now - .seconds(86_500)),
            ]
            #expect(try await ledger.store(blocks, by: Self.reader()))
            let known = try await ledger.brakeBlocks()
            #expect(known.sorted { $0.block.key.scope < $1.block.key.scope } == [blocks[0], blocks[2], blocks[1]])
            #expect(Set(try await ledger.blocksInForce().keys) == [blocks[0].turn, blocks[1].turn])
        }
    }

    @Test func `a lifted block stays lifted until its scope trips again`() async throws {
        try await LedgerDatabase.with { database in
            let ledger = database.ledger()
            _ = try await ledger.elect(Self.reader(), lease: .seconds(60))
            _ = try await ledger.store([Self.block()], by: Self.reader())
            try await database.script("UPDATE courier.brake_block SET state = 'ended', changes_at = clock_timestamp()")
            _ = try await ledger.store([Self.block(BrakeKey(.prefix, -7), .halfOpen)], by: Self.reader())
            #expect(try await ledger.blocksInForce().isEmpty)
            _ = try await ledger.store([Self.block(beganAt: .test + .seconds(1))], by: Self.reader())
            #expect(try await ledger.blocksInForce().count == 1)
        }
    }

    @Test func `refused requests are added to their block, and a new block begins at none`() async throws {
        try await LedgerDatabase.with { database in
            let ledger = database.ledger()
            _ = try await ledger.elect(Self.reader(), lease: .seconds(60))
            _ = try await ledger.store([Self.block(), Self.block(BrakeKey(.ip, 1))], by: Self.reader())
            let version = try await ledger.brakeStatus().version
            func refusals(_ count: Int, at time: Timestamp) -> [BrakeRefusal] {
                [
                    BrakeRefusal(tenant: "default", key: BrakeKey(.prefix, -7), count: count, at: time),
                    BrakeRefusal(tenant: "default", key: BrakeKey(.prefix, 8), count: 1, at: time),
                ]
            }
            try await ledger.add(refusals(3, at: .test + .seconds(9)))
            try await ledger.add(refusals(2, at: .test + .seconds(5)))
            try await ledger.add([])
            let counts: StaticString =
                "SELECT string_agg(scope || ' ' || refused, ', ' ORDER BY scope) FROM courier.brake_block"
            #expect(try await database.text(counts) == "ip 0, prefix 5")
            let inForce = try await ledger.blocksInForce()
            #expect(inForce[Self.block().turn] == .some(.test + .seconds(9)))
            #expect(inForce[Self.block(BrakeKey(.ip, 1)).turn] == .some(nil))
            // A count is no change of the board.
            #expect(try await ledger.brakeStatus().version == version)

            _ = try await ledger.store([Self.block(BrakeKey(.prefix, -7), .ended)], by: Self.reader())
            #expect(try await database.text(counts) == "ip 0, prefix 5")
            _ = try await ledger.store([Self.block(beganAt: .test + .seconds(900))], by: Self.reader())
            #expect(try await database.text(counts) == "ip 0, prefix 0")
        }
    }

    // MARK: The board

    @Test func `every change of a block or an order raises the version, and the board shows it`() async throws {
        try await LedgerDatabase.with { database in
            let ledger = database.ledger()
            _ = try await ledger.elect(Self.reader(), lease: .seconds(60))
            var version = try await ledger.brakeStatus().version
            #expect(try await ledger.brakeBoard() == .empty)
            let changes = [
                """
                INSERT INTO courier.brake_override (tenant, scope, key, action, until, reason)
                VALUES ('default', 'phone', 4, 'allow', clock_timestamp() + interval '1 hour', 'test')
                """,
                "UPDATE courier.brake_override SET action = 'block'",
                "DELETE FROM courier.brake_override",
            ]
            for change in changes {
                try await database.script(change)
                let next = try await ledger.brakeStatus().version
                #expect(next > version, "\(change)")
                version = next
                let hasOrder = try await ledger.brakeBoard()["default"] != nil
                #expect(hasOrder == !change.hasPrefix("DELETE"))
            }
            _ = try await ledger.store([Self.block()], by: Self.reader())
            #expect(try await ledger.brakeStatus().version > version)
            #expect(try await ledger.brakeBoard()["default"] != nil)
            version = try await ledger.brakeStatus().version
            try await database.withLogin(granted: "courier_operator") { pool in
                let lift = "UPDATE courier.brake_block SET state = 'ended', changes_at = clock_timestamp()"
                try await pool.withSession { try $0.script(lift) }
            }
            #expect(try await ledger.brakeStatus().version > version)
        }
    }

    @Test func `an order that is over is not on the board`() async throws {
        try await LedgerDatabase.with { database in
            try await database.script(
                """
                INSERT INTO courier.brake_override (tenant, scope, key, action, until, reason)
                VALUES ('default', 'ip', 4, 'block', clock_timestamp(), 'test')
                """
            )
            #expect(try await database.ledger().brakeBoard() == .empty)
        }
    }

    // MARK: What is usual

    private static func counts(
        _ verifications: Int,
        provider: String = "main",
        hour: Timestamp = .test
    ) -> ConversionCounts {
        let group = ConversionCounts.Group(
            hour: hour.hour,
            tenant: "default",
            region: "DE",
            provider: provider,
            isConfirmed: true
        )
        return ConversionCounts([
            group: .init(verifications: verifications, approved: 2, sends: 3, within: [1, 2, 3, 4, 5, 6])
        ])
    }

    @Test func `counts are added, with the time up to which they are, and read without their providers`() async throws {
        try await LedgerDatabase.with { database in
            let ledger = database.ledger()
            let reader = Self.reader()
            _ = try await ledger.elect(reader, lease: .seconds(60))
            var start: Timestamp?
            for (second, counts) in [Self.counts(10), Self.counts(20), Self.counts(5, provider: "")].enumerated() {
                let end = Timestamp.test + .seconds(second)
                #expect(try await ledger.add(counts, from: start, upTo: end, by: reader))
                // As after a COMMIT whose answer was lost: the next round's end is later.
                #expect(try await !ledger.add(counts, from: start, upTo: end + .seconds(2), by: reader))
                start = end
            }
            #expect(try await ledger.add(ConversionCounts(), from: start, upTo: .test + .seconds(9), by: reader))
            #expect(try await database.count("SELECT count(*) FROM courier.conversion") == 2)
            let hours = try await ledger.conversionHours(since: .test - .seconds(3600))
            #expect(
                hours.groups.values.map { $0 }
                    == [.init(verifications: 35, approved: 6, sends: 9, within: [3, 6, 9, 12, 15, 18])]
            )
            #expect(try await ledger.conversionHours(since: .test + .seconds(3600)).isEmpty)
            #expect(try await ledger.elect(reader, lease: .zero)?.countedTo == .test + .seconds(9))
        }
    }

    @Test func `old blocks, orders and counts are removed, and no younger ones`() async throws {
        try await LedgerDatabase.with { database in
            let ledger = database.ledger()
            let now = try await LedgerWorker(ledger).now()
            _ = try await ledger.elect(Self.reader(), lease: .seconds(60))
            let old = now - .seconds(31 * 86_400)
            let blocks = [
                Self.block(BrakeKey(.ip, 1), .ended, changesAt: old),
                Self.block(BrakeKey(.ip, 2), .blocked, changesAt: old),
                Self.block(BrakeKey(.ip, 3), .ended, changesAt: now - .seconds(29 * 86_400)),
            ]
            _ = try await ledger.store(blocks, by: Self.reader())
            for days in [34, 36] {
                let counts = Self.counts(1, hour: now - .seconds(days * 86_400))
                _ = try await ledger.add(counts, from: now, upTo: now, by: Self.reader())
            }
            try await database.script(
                """
                INSERT INTO courier.brake_override (tenant, scope, key, action, until, reason)
                SELECT 'default', 'ip', n, 'block', clock_timestamp() - n * interval '10 days', 'test'
                FROM generate_series(2, 4) AS n
                """
            )
            try await ledger.maintain()
            #expect(try await database.count("SELECT sum(key)::bigint FROM courier.brake_block") == 5)
            #expect(try await database.count("SELECT count(*) FROM courier.conversion") == 1)
            #expect(try await database.count("SELECT count(*) FROM courier.brake_override") == 1)
        }
    }

    @Test func `a worker's login may do all that its ledger does`() async throws {
        try await LedgerDatabase.with { database in
            try await database.withLogin(granted: "courier_worker", settings: PostgresLedger.sessionSettings) { pool in
                let ledger = database.ledger(on: pool)
                let now = try #require(try await ledger.elect(Self.reader(), lease: .seconds(60))).now
                #expect(try await ledger.store([Self.block()], by: Self.reader()))
                #expect(try await ledger.add(Self.counts(1), from: nil, upTo: now, by: Self.reader()))
                try await ledger.add([BrakeRefusal(tenant: "default", key: BrakeKey(.prefix, -7), at: now)])
                _ = try await ledger.conversions(from: now - .seconds(60), to: now)
                #expect(try await ledger.brakeBlocks().count == 1)
                #expect(try await ledger.blocksInForce().count == 1)
                #expect(try await ledger.conversionHours(since: .test.hour).groups.count == 1)
                #expect(try await ledger.brakeStatus().version > 0)
                #expect(try await ledger.brakeBoard() != .empty)
                try await ledger.resign(Self.reader())
            }
        }
    }
}

extension [String: [ConversionSample]] {
    fileprivate func keys(_ id: VerificationID) -> [Int64?]? {
        values.joined().first { $0.id == id.uuid }?.keysOnly
    }
}

extension ConversionSample {
    fileprivate var keysOnly: [Int64?] { [client, prefix, range] }
}

extension BrakeLedger {
    fileprivate func elect(_ reader: UUIDValue, lease: Duration) async throws -> ReaderTurn? {
        try await elect(reader, lease: lease, judgedTo: nil)
    }
}
