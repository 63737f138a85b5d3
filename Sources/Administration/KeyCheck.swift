// SPDX-License-Identifier: Apache-2.0

package import PostgresClient
package import Verification

/// Compares keys with those of the fleet, of which its database keeps check values.
///
/// A worker that made codes or fingerprints with other keys than the others would send a person a second code within the
/// window, and one that no verifier knows.
package struct KeyCheck: Sendable {
    private let pool: PostgresPool

    package init(_ pool: PostgresPool) {
        self.pool = pool
    }

    /// Keys that are not those that the fleet has under their ids.
    package struct OtherKeys: Error, Equatable, CustomStringConvertible {
        package let names: [KeyName]

        package init(names: [KeyName]) {
            self.names = names
        }

        package var description: String {
            let keys = names.map(\.description).joined(separator: ", ")
            return """
                \(keys) \(names.count == 1 ? "is" : "are") not what the fleet uses under that id (courier.key_check): \
                restore it, or give a new key an id of its own
                """
        }
    }

    /// Throws `OtherKeys`, and writes nothing.
    package func compare(_ values: [KeyCheckValue]) async throws {
        let values = Self.inLockOrder(values)
        try await pool.withSession { session in
            try Self.expectSame(values, in: try session.execute(Self.read(values)))
        }
    }

    /// Writes the check values that the database lacks, or throws `OtherKeys` and writes none.
    ///
    /// Of two workers that are the first with an id one waits for the other one's row, and then reads it.
    package func register(_ values: [KeyCheckValue]) async throws {
        let values = Self.inLockOrder(values)
        try await pool.withTransaction { transaction in
            let answers = try transaction.run([Self.insert(values), Self.read(values)])
            // What throws rolls back.
            try Self.expectSame(values, in: answers[1])
        }
    }

    /// Throws `OtherKeys`; for a login that may not read the table.
    package func compareAsOperator(_ values: [KeyCheckValue]) async throws {
        let statement = Statement(
            "SELECT ring, id FROM courier.other_keys($1::text[], $2::int2[], $3::bytea[])",
            Self.parameters(values)
        )
        let others = try await pool.withSession { session in
            try session.execute(statement).map { row in try KeyName(row) }
        }
        if !others.isEmpty { throw OtherKeys(names: others) }
    }

    private static func inLockOrder(_ values: [KeyCheckValue]) -> [KeyCheckValue] {
        values.sorted { $0.name < $1.name }
    }

    private static func expectSame(_ values: [KeyCheckValue], in rows: Rows) throws {
        let own = Dictionary(values.map { ($0.name, $0.mac) }) { first, _ in first }
        var others: [KeyName] = []
        for row in rows {
            let name = try KeyName(row)
            guard let mac = own[name], !mac.equalsInConstantTime(try row.bytes(2)) else { continue }
            others.append(name)
        }
        if !others.isEmpty { throw OtherKeys(names: others.sorted()) }
    }

    private static func insert(_ values: [KeyCheckValue]) -> Statement {
        Statement(
            """
            INSERT INTO courier.key_check (ring, id, mac)
            SELECT u.ring, u.id, u.mac FROM unnest($1::text[], $2::int2[], $3::bytea[]) AS u(ring, id, mac)
            ON CONFLICT (ring, id) DO NOTHING
            """,
            parameters(values)
        )
    }

    private static func read(_ values: [KeyCheckValue]) -> Statement {
        Statement(
            """
            SELECT k.ring, k.id, k.mac
            FROM unnest($1::text[], $2::int2[]) AS u(ring, id)
            JOIN courier.key_check k ON k.ring = u.ring AND k.id = u.id
            """,
            Array(parameters(values).prefix(2))
        )
    }

    private static func parameters(_ values: [KeyCheckValue]) -> [Parameter] {
        [
            .texts(values.map(\.name.ring)), .int16s(values.map(\.name.id.number)), .bytesArray(values.map(\.mac)),
        ]
    }
}

extension KeyName {
    fileprivate init(_ row: Row) throws(PostgresError) {
        self.init(ring: try row.text(0), id: KeyID(try row.int16(1)))
    }
}
