// SPDX-License-Identifier: Apache-2.0

import Administration
import Formats
import PostgresClient
import TestSupport
import Testing
import Verification

/// The keys of a fleet: the first worker registers them, and later workers must have the same ones.
@Suite struct KeyCheckTests {
    /// The test keys with one ring's key replaced.
    private static func keys(_ ring: String, _ byte: UInt8, id: Int16 = 1) -> CodeKeys {
        func choose(_ name: String, _ usual: KeyRing) -> KeyRing { name == ring ? .test(byte, id: id) : usual }
        let test = CodeKeys.test
        return CodeKeys(
            code: choose("code", test.code),
            hash: choose("hash", test.hash),
            fingerprint: choose("fingerprint", test.fingerprint),
            seal: choose("seal", test.seal)
        )
    }

    private static let rings = ["code", "hash", "fingerprint", "seal"]

    @Test func `the first worker's keys are the fleet's, for as many workers as have them`() async throws {
        try await LedgerDatabase.with { database in
            let check = KeyCheck(database.pool)
            try await check.compare(CodeKeys.test.checkValues)
            #expect(try await database.count("SELECT count(*) FROM courier.key_check") == 0)
            for _ in 0..<2 {
                try await check.register(CodeKeys.test.checkValues)
                try await check.compare(CodeKeys.test.checkValues)
            }
            let rows = try await database.texts(
                "SELECT concat_ws(' ', ring, id, length(mac)) FROM courier.key_check ORDER BY ring"
            )
            #expect(rows == ["code 1 32", "fingerprint 1 32", "hash 1 32", "seal 1 32"])
        }
    }

    @Test(arguments: rings)
    func `another key under a known id is refused by its name, and leaves nothing`(ring: String) async throws {
        try await LedgerDatabase.with { database in
            let check = KeyCheck(database.pool)
            try await check.register(CodeKeys.test.checkValues)
            let name = KeyName(ring: ring, id: KeyID(1))
            let refusal = KeyCheck.OtherKeys(names: [name])
            #expect("\(refusal)".hasPrefix("keys.\(ring): key 1 is not"))

            let other = Self.keys(ring, 9).checkValues
            let new = KeyCheckValue(KeyName(ring: ring, id: KeyID(2)), key: KeyRing.test(8).active)
            await #expect(throws: refusal) { try await check.compare(other) }
            await #expect(throws: refusal) { try await check.register(other + [new]) }
            #expect(try await database.count("SELECT count(*) FROM courier.key_check") == 4)
            try await check.register(Self.keys(ring, 9, id: 2).checkValues)
            try await check.compare(CodeKeys.test.checkValues)
        }
    }

    @Test func `all keys that differ are named`() async throws {
        try await LedgerDatabase.with { database in
            let check = KeyCheck(database.pool)
            try await check.register(CodeKeys.test.checkValues)
            let other = CodeKeys(code: .test(9), hash: .test(8), fingerprint: .test(3), seal: .test(4))
            let names = ["code", "hash"].map { KeyName(ring: $0, id: KeyID(1)) }
            await #expect(throws: KeyCheck.OtherKeys(names: names)) { try await check.register(other.checkValues) }
        }
    }

    @Test func `of workers with different keys that are the first exactly one begins the fleet`() async throws {
        try await LedgerDatabase.with(connections: 8) { database in
            for _ in 0..<10 {
                let won = try await inParallel(8) { number in
                    let keys = CodeKeys(
                        code: .test(UInt8(10 + number)),
                        hash: .test(UInt8(20 + number)),
                        fingerprint: .test(UInt8(30 + number)),
                        seal: .test(UInt8(40 + number))
                    )
                    do {
                        try await KeyCheck(database.pool).register(keys.checkValues)
                        return keys
                    } catch is KeyCheck.OtherKeys {
                        return nil
                    }
                }.compactMap(\.self)
                #expect(won.count == 1)
                if let keys = won.first { try await KeyCheck(database.pool).compare(keys.checkValues) }
                try await database.script("DELETE FROM courier.key_check")
            }
        }
    }

    @Test func `a worker waits for a key that another one is writing, and takes it for the fleet's`() async throws {
        try await LedgerDatabase.with { database in
            let values = Self.keys("hash", 9).checkValues.map { ($0.name.ring, hexadecimal($0.mac)) }
            let rows = values.map { "('\($0)', 1, '\\x\($1)')" }.joined(separator: ", ")
            async let written: Void = database.play(
                """
                BEGIN;
                INSERT INTO courier.key_check VALUES \(rows);
                SELECT pg_advisory_xact_lock(1);
                \(LedgerDatabase.untilSomebodyWaits)
                COMMIT;
                """
            )
            try await database.waitForHolders()
            let refusal = KeyCheck.OtherKeys(names: [KeyName(ring: "hash", id: KeyID(1))])
            await #expect(throws: refusal) { try await KeyCheck(database.pool).register(CodeKeys.test.checkValues) }
            try await written
        }
    }

    @Test func `a worker's login writes and reads them, an operator's learns of its own alone`() async throws {
        try await LedgerDatabase.with { database in
            try await database.withLogin(granted: "courier_worker") { pool in
                try await KeyCheck(pool).register(CodeKeys.test.checkValues)
                await #expect(throws: PostgresError.self) {
                    try await pool.withSession { try $0.script("UPDATE courier.key_check SET mac = ''") }
                }
            }
            try await database.withLogin(granted: "courier_operator") { pool in
                let eraser = Eraser(pool: pool)
                try await eraser.checkKeys(CodeKeys.test.fingerprint.checkValues(as: "fingerprint"))
                try await eraser.checkKeys(KeyRing.test(9, id: 2).checkValues(as: "fingerprint"))
                let refusal = KeyCheck.OtherKeys(names: [KeyName(ring: "fingerprint", id: KeyID(1))])
                await #expect(throws: refusal) {
                    try await eraser.checkKeys(KeyRing.test(9).checkValues(as: "fingerprint"))
                }
            }
            try await database.script("DROP FUNCTION courier.other_keys")
            await #expect(throws: Eraser.Refusal.behind) { try await Eraser(pool: database.pool).checkKeys([]) }
        }
    }
}
