// SPDX-License-Identifier: Apache-2.0

import Formats
import TestSupport
import Testing
import Verification

@testable import Ledger

/// Tests the order and the age of requests that wait for a locked row.
@Suite(.timeLimit(.minutes(5))) struct LockedRequestTests {
    @Test func `a person's requests stay in their order behind a lock that only the first one needs`() async throws {
        try await LedgerDatabase.with { database in
            let worker = LedgerWorker(database.ledger(), policy: .counting)
            _ = try await worker.claims(1, from: 7)
            let window = LimitKey.address(.address(of: 7)).digest
            let lock = "SELECT FROM courier.limit_window WHERE key = '\(window)' FOR UPDATE"
            async let holder: Void = database.script(LockedRowTests.hold(lock))
            try await database.waitForHolders()
            let now = try await worker.now()
            let records = ["10.0.0.7", "10.0.0.8"].enumerated().map { index, address in
                InboundRecord.request(
                    id: "a\(index)",
                    phoneNumber: "+4915100000001",
                    offset: Int64(index),
                    at: now,
                    more: #","client":{"ip":"\#(address)"}"#
                )
            }
            let recorded = try await worker.decided(try await worker.candidates(records))
            #expect(recorded.value.waiting.map(\.key.requestID) == ["a0", "a1"])
            #expect(recorded.value.sends.isEmpty)
            try await LockedRowTests.release(database)
            try await holder
        }
    }

    @Test func `a request that is too old to be sent waits for no row of its person`() async throws {
        try await LedgerDatabase.with { database in
            let worker = LedgerWorker(database.ledger(), policy: .counting)
            let claims = try await worker.claims(1)
            async let holder: Void = database.script(LockedRowTests.hold(LockedRowTests.Needed.person.lock(claims[0])))
            try await database.waitForHolders()
            let now = try await worker.now()
            let old = now - worker.rules.settings.maxRequestAge - .seconds(1)
            let records: [InboundRecord] = .people(1, round: 1, at: now) + .people(1, round: 2, at: old)
            let recorded = try await worker.decided(try await worker.candidates(records))
            #expect(recorded.value.waiting.map(\.key.requestID) == ["p0-1"])
            #expect(recorded.outbox.map { $0.json?.text("reason") } == ["stale_request"])
            try await LockedRowTests.release(database)
            try await holder
        }
    }

    /// The states in which another transaction may hold the row of the request id `p0-0`.
    enum OwnRow: CaseIterable {
        case locked, uncommitted

        /// Inserts the row if it must exist beforehand, and returns the script that locks it.
        func prepare(_ worker: LedgerWorker) async throws -> String {
            switch self {
            case .locked:
                _ = try await worker.claims(1)
                return "SELECT FROM courier.request FOR UPDATE"
            case .uncommitted:
                return """
                    INSERT INTO courier.request (day, key, digest, record_offset, record_partition, record_topic)
                    VALUES ((statement_timestamp() AT TIME ZONE 'UTC')::date,
                        courier.request_key('default', 'p0-0'), gen_random_uuid(), 0, 0, 0)
                    """
            }
        }
    }

    @Test(arguments: OwnRow.allCases)
    func `a request that is too old waits for its id's row only while that is not committed, a younger one always`(
        row: OwnRow
    ) async throws {
        try await LedgerDatabase.with { database in
            let worker = LedgerWorker(database.ledger(), policy: .counting)
            let lock = try await row.prepare(worker)
            async let holder: Void = database.script(LockedRowTests.hold(lock))
            try await database.waitForHolders()
            let now = try await worker.now()
            let old = now - worker.rules.settings.maxRequestAge - .seconds(1)
            let records = [(old, 1), (now, 2), (old, 3)].map { time, offset in
                InboundRecord.request(id: "p0-0", phoneNumber: "+4915100000000", offset: offset, at: time)
            }
            let recorded = try await worker.decided(try await worker.candidates(records))
            // The last one comes behind the younger one. A row that is not committed may be the first one's own decision.
            #expect(recorded.value.waiting.map(\.place.offset) == (row == .locked ? [2, 3] : [1, 2, 3]))
            // The events of its verification have answered the first one.
            #expect(recorded.outbox.isEmpty)

            try await LockedRowTests.release(database)
            try await holder
        }
    }

    @Test func `a record that is refused for its shape waits for no committed row once it is old`() async throws {
        try await LedgerDatabase.with { database in
            let worker = LedgerWorker(database.ledger(), policy: .counting)
            let value = #"{"requestId":"p0-0","purpose":"none"}"#
            let now = try await worker.now()
            let old = now - worker.rules.settings.maxRequestAge - .seconds(1)
            let young = try await worker.candidates([.raw(value, offset: 1, at: now)])
            let aged = try await worker.candidates([.raw(value, offset: 2, at: old)])
            let keys = Set((young + aged).map { "('\($0.key.digest)'::uuid)" }).joined(separator: ", ")
            try await database.script(
                """
                INSERT INTO courier.request (day, key, digest, record_offset, record_partition, record_topic)
                SELECT (statement_timestamp() AT TIME ZONE 'UTC')::date, key, gen_random_uuid(), 0, 0, 0
                FROM (VALUES \(keys)) AS k(key)
                """
            )
            async let holder: Void = database.script(LockedRowTests.hold("SELECT FROM courier.request FOR UPDATE"))
            try await database.waitForHolders()
            #expect(try await worker.decided(young).value.waiting.map(\.place.offset) == [1])
            let recorded = try await worker.decided(aged)
            #expect(recorded.value.waiting.isEmpty)
            #expect(recorded.outbox.count == 1)
            try await LockedRowTests.release(database)
            try await holder
        }
    }

    @Test func `a record that was decided is not decided anew while the row of its id is locked`() async throws {
        try await LedgerDatabase.with { database in
            let worker = LedgerWorker(database.ledger(), policy: .counting)
            let records: [InboundRecord] = .people(1, at: try await worker.now())
            let sent = try await worker.intake(records)
            #expect(sent.value.count == 1)
            let later = IntakeRules(
                policy: worker.policy,
                keys: worker.keys,
                settings: .test { $0.maxRequestAge = .zero }
            )
            async let holder: Void = database.script(LockedRowTests.hold("SELECT FROM courier.request FOR UPDATE"))
            try await database.waitForHolders()
            let again = try await worker.ledger.intake(try await worker.candidates(records), by: later)
            #expect(again.value.waiting.isEmpty && again.outbox.isEmpty)
            try await LockedRowTests.release(database)
            try await holder
        }
    }
}
