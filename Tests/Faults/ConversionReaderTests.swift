// SPDX-License-Identifier: Apache-2.0

import Courier
import Formats
import Logging
import Logs
import PostgresClient
import Synchronization
import TestSupport
import TestTools
import Testing
import Verification

/// Tests two readers of conversions on one database.
@Suite struct ConversionReaderTests {
    /// Verifications of one prefix that began 11 minutes ago, and that nobody has approved.
    private static let verifications = """
        INSERT INTO courier.verification (
            id, request_id, tenant, purpose, channel, fingerprint, region, masked, seal_key, code_key, hash_key,
            generation, code_hash, code_length, state, max_checks, sends_used, max_sends, send_open, sequence,
            resend_after, expires_at, policy_version, client_key, prefix_key, range_key, confirmed, status
        )
        SELECT (
                left(courier.uuid_floor(clock_timestamp() - interval '11 minutes')::text, 13) || '-7'
                    || substr(md5(n::text), 1, 3) || '-8' || substr(md5(n::text), 4, 3) || '-' || substr(md5(n::text), 7, 12)
            )::uuid,
            'r-' || n, 'default', 'sign_in', 'sms', sha256(n::text::bytea), 'DE', '+4******1', 1, 1, 1, 1,
            sha256(n::text::bytea), 6, 'live', 5, 1, 5, false, 1, clock_timestamp(),
            clock_timestamp() + interval '1 hour', 'test', n, 7, 8, false, 'sent'
        FROM generate_series(1, 20) AS n
        """

    @Test(.timeLimit(.minutes(10))) func `a reader that dies while it reads is followed, and the blocks are as before`()
        async throws
    {
        try await LedgerDatabase.with { database in
            try await database.script(Self.verifications)
            let (first, second) = (MortalLedger(database.ledger()), MortalLedger(database.ledger()))
            try await first.reading { log in
                try await eventually("the prefix is blocked", within: .seconds(30)) {
                    try await database.count("SELECT count(*) FROM courier.brake_block WHERE state = 'blocked'") == 1
                }
                #expect(log.lines(.brakeReader).count == 1 && log.lines(.brakeTripped).count == 1)
                try await second.reading { log in
                    try await eventually("the other one waits") { second.elections > 2 }
                    #expect(log.lines(.brakeReader).isEmpty)
                    let before = try await database.blocks()
                    first.dieAtNextSlice()
                    try await eventually("it has died") { first.isDead }
                    try await eventually("the other one reads", within: .seconds(10)) {
                        !log.lines(.brakeReader).isEmpty
                    }
                    try await eventually("it has judged twice", within: .seconds(30)) { second.judgements > 2 }
                    #expect(try await database.blocks() == before)
                    #expect(log.events == [LoggedEvent.brakeReader.name])
                }
            }
        }
    }
}

extension LedgerDatabase {
    fileprivate func blocks() async throws -> String? {
        try await text("SELECT string_agg(to_jsonb(b)::text, ', ' ORDER BY scope, key) FROM courier.brake_block b")
    }
}

/// A ledger whose worker can die: from then on every call fails, and its lease stays.
private final class MortalLedger: BrakeLedger {
    private struct Dead: Error {}

    private struct State {
        var diesAtNextSlice = false
        var isDead = false
        var elections = 0
        var judgements = 0
    }

    private let ledger: any BrakeLedger
    private let state = Mutex(State())

    init(_ ledger: any BrakeLedger) {
        self.ledger = ledger
    }

    var isDead: Bool { state.withLock(\.isDead) }
    var elections: Int { state.withLock(\.elections) }
    var judgements: Int { state.withLock(\.judgements) }

    func dieAtNextSlice() {
        state.withLock { $0.diesAtNextSlice = true }
    }

    /// Runs a reader on this ledger, with rounds in quick succession.
    func reading(_ body: (LogRecord) async throws -> Void) async throws {
        let log = LogRecord()
        let reader = ConversionReader(
            ledger: self,
            policies: PolicySource(.test()),
            logger: log.logger,
            every: .milliseconds(50)
        )
        let task = Task { await reader.run() }
        defer { task.cancel() }
        try await body(log)
        task.cancel()
        await task.value
    }

    private func live() throws {
        if isDead { throw Dead() }
    }

    func elect(_ reader: UUIDValue, lease: Duration, judgedTo: Timestamp?) async throws -> ReaderTurn? {
        try live()
        state.withLock { $0.elections += 1 }
        return try await ledger.elect(reader, lease: lease, judgedTo: judgedTo)
    }

    func resign(_ reader: UUIDValue) async throws {
        try live()
        try await ledger.resign(reader)
    }

    func conversions(from: Timestamp, to: Timestamp) async throws -> [String: [ConversionSample]] {
        state.withLock { if $0.diesAtNextSlice { $0.isDead = true } }
        try live()
        return try await ledger.conversions(from: from, to: to)
    }

    func blocksInForce() async throws -> [BrakeTurn: Timestamp?] {
        try live()
        state.withLock { $0.judgements += 1 }
        return try await ledger.blocksInForce()
    }

    func brakeStatus() async throws -> BrakeStatus { try await ledger.brakeStatus() }
    func brakeBoard() async throws -> BrakeBoard { try await ledger.brakeBoard() }
    func add(_ refusals: [BrakeRefusal]) async throws { try await ledger.add(refusals) }

    func brakeBlocks() async throws -> [TenantBlock] {
        try live()
        return try await ledger.brakeBlocks()
    }

    func store(_ blocks: [TenantBlock], by reader: UUIDValue) async throws -> Bool {
        try live()
        return try await ledger.store(blocks, by: reader)
    }

    func launches() async throws -> [BrakeLaunch] {
        try live()
        return try await ledger.launches()
    }

    func store(_ launches: [BrakeLaunch], by reader: UUIDValue) async throws -> Bool {
        try live()
        return try await ledger.store(launches, by: reader)
    }

    func conversionHours(since: Timestamp) async throws -> ConversionCounts {
        try live()
        return try await ledger.conversionHours(since: since)
    }

    func add(
        _ counts: ConversionCounts,
        from start: Timestamp?,
        upTo end: Timestamp,
        by reader: UUIDValue
    ) async throws -> Bool {
        try live()
        return try await ledger.add(counts, from: start, upTo: end, by: reader)
    }
}
