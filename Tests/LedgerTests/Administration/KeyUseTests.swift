// SPDX-License-Identifier: Apache-2.0

import Administration
import Formats
import PostgresClient
import TestSupport
import Testing
import Verification

/// The keys that live rows need: without them codes under way could not be checked, sent again or opened.
@Suite struct KeyUseTests {
    private static let rings = ["code", "hash", "seal"]

    /// The test keys with another key in front of some rings, and the old one behind it or gone.
    private static func rotated(_ names: [String], keepsOld: Bool) -> CodeKeys {
        func ring(_ name: String, _ old: KeyRing, _ byte: UInt8) -> KeyRing {
            let new = (id: KeyID(2), bytes: [UInt8](repeating: byte + 100, count: 32))
            let own = (id: KeyID(1), bytes: [UInt8](repeating: byte, count: 32))
            return names.contains(name) ? KeyRing(keepsOld ? [new, own] : [new]) ?? old : old
        }
        let test = CodeKeys.test
        return CodeKeys(
            code: ring("code", test.code, 1),
            hash: ring("hash", test.hash, 2),
            fingerprint: test.fingerprint,
            seal: ring("seal", test.seal, 4)
        )
    }

    @Test func `a verification needs the keys that made it until it ends, and no row needs any before`() async throws {
        try await LedgerDatabase.with { database in
            let use = KeyUse(database.pool)
            #expect(try await use.needs().isEmpty)
            let worker = LedgerWorker(database.ledger())
            _ = try await worker.settle(try await worker.claims(3), .sent)
            let newest = try await database.count(
                "SELECT (extract(epoch FROM max(expires_at)) * 1000000)::bigint FROM courier.verification"
            )
            let until = Timestamp(microseconds: newest)
            let expected = Self.rings.map { KeyNeed(name: KeyName(ring: $0, id: KeyID(1)), rows: 3, until: until) }
            let needs = try await use.needs()
            #expect(needs == expected)
            try await database.script(
                """
                UPDATE courier.verification SET state = 'locked'
                WHERE id = (SELECT id FROM courier.verification ORDER BY id LIMIT 1)
                """
            )
            #expect(try await use.needs().map(\.rows) == [2, 2, 2])
            try await database.script("UPDATE courier.verification SET expires_at = clock_timestamp()")
            #expect(try await use.needs().isEmpty)
        }
    }

    @Test func `an open send may begin the validity anew, and so does the need for the keys`() async throws {
        try await LedgerDatabase.with { database in
            let worker = LedgerWorker(database.ledger())
            let claim = try await worker.claim()
            let until = try #require(try await KeyUse(database.pool).needs().first?.until)
            _ = try await worker.settle([claim], .sent)
            let stored = try await database.count(
                "SELECT (extract(epoch FROM expires_at) * 1000000)::bigint FROM courier.verification"
            )
            #expect(until >= Timestamp(microseconds: stored))
            #expect(until - .now > .seconds(18 * 60))
            #expect(until - .now < .seconds(21 * 60))
        }
    }

    @Test func `a waiting receipt needs the key of its seal`() async throws {
        try await LedgerDatabase.with { database in
            try await database.script(
                """
                INSERT INTO courier.receipt (id, provider, status, sealed, seal_key, received_at, tries, due_at)
                SELECT gen_random_uuid(), 'main', 'sent', '', 7, t, 0, t + interval '9 s' FROM clock_timestamp() AS t
                """
            )
            let needs = try await KeyUse(database.pool).needs()
            #expect(needs.map(\.name) == [KeyName(ring: "seal", id: KeyID(7))])
            #expect(needs.allSatisfy { $0.rows == 1 && $0.until > .now })
        }
    }

    @Test(arguments: rings)
    func `a ring without a key that live rows need is refused by its name, until they have ended`(
        ring: String
    )
        async throws
    {
        try await LedgerDatabase.with { database in
            try await KeyCheck(database.pool).register(CodeKeys.test.checkValues)
            let use = KeyUse(database.pool)
            let without = Self.rotated([ring], keepsOld: false)
            try await use.expectAll(in: without)
            _ = try await LedgerWorker(database.ledger()).claims(2)
            try await use.expectAll(in: .test)
            try await use.expectAll(in: Self.rotated(Self.rings, keepsOld: true))
            let error = await #expect(throws: KeyUse.MissingKeys.self) { try await use.expectAll(in: without) }
            #expect(error?.needs.map(\.name) == [KeyName(ring: ring, id: KeyID(1))])
            #expect(error?.needs.map(\.rows) == [2])
            let text = "\(try #require(error))"
            #expect(text.hasPrefix("keys.\(ring): key 1 is missing, and 2 live rows need it until 20"), "\(text)")
            #expect(text.hasSuffix("put it back at the end of the ring, and take it out after that"))
            try await database.script("UPDATE courier.verification SET expires_at = clock_timestamp()")
            try await use.expectAll(in: without)
        }
    }

    @Test func `without the rings' own ids no row is read`() async throws {
        try await LedgerDatabase.with(connections: 1) { database in
            try await KeyCheck(database.pool).register(CodeKeys.test.checkValues)
            try await database.fill()
            let use = KeyUse(database.pool)
            let known = try await ReadCost.measure(database.pool) { try await use.expectAll(in: .test) }
            #expect(known.largest == 0, "\(known)")
            let searched = try await ReadCost.measure(database.pool) {
                _ = await #expect(throws: KeyUse.MissingKeys.self) {
                    try await use.expectAll(in: Self.rotated(["hash"], keepsOld: false))
                }
            }
            #expect(searched.largest > 0, "\(searched)")
        }
    }

    /// A busy day: its table has 16,000 rows, of which sixteen have not ended.
    @Test(arguments: [true, false])
    func `rows that have ended are not read, also without statistics`(isAnalysed: Bool) async throws {
        try await LedgerDatabase.with(connections: 1) { database in
            try await database.fill()
            try await database.script(
                """
                UPDATE courier.verification SET state = 'expired', ended_at = clock_timestamp()
                WHERE right(request_id, 3) <> '000'
                """
            )
            try await database.script("VACUUM \(isAnalysed ? "ANALYZE " : "")courier.verification")
            let use = KeyUse(database.pool)
            let cost = try await ReadCost.measure(database.pool) {
                let rows = try await use.needs().map(\.rows)
                #expect(rows == [16, 16, 16])
            }
            #expect(cost.rows["verification", default: 0] == 0, "\(cost)")
            #expect(cost.entries["verification", default: 0] <= 32, "\(cost)")
        }
    }

    @Test func `a worker's login and an operator's may look, and a verifier's may not`() async throws {
        try await LedgerDatabase.with { database in
            try await KeyCheck(database.pool).register(CodeKeys.test.checkValues)
            try await database.withLogin(granted: "courier_worker") { try await KeyUse($0).expectAll(in: .test) }
            try await database.withLogin(granted: "courier_operator") { pool in
                let needs = try await KeyUse(pool).needs()
                #expect(needs.isEmpty)
            }
            try await database.withLogin(granted: "courier_verifier") { pool in
                _ = await #expect(throws: PostgresError.self) { try await KeyUse(pool).needs() }
            }
        }
    }
}
