// SPDX-License-Identifier: Apache-2.0

package import PostgresClient
package import Verification

/// Compares keys with the fleet's, whose check values are in the database.
///
/// A worker that made codes or fingerprints with other keys would send a person a second code within the resend window,
/// and one that no verifier could check.
package struct KeyCheck: Sendable {
    private let pool: PostgresPool

    package init(_ pool: PostgresPool) {
        self.pool = pool
    }

    /// Keys that differ from the fleet's keys with the same ids.
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

    /// Compares without writing; throws `OtherKeys` on a difference.
    package func compare(_ values: [KeyCheckValue]) async throws {
        let values = Self.inLockOrder(values)
        try await pool.withSession { session in
            try Self.expectSame(values, in: try session.execute(Self.read(values)))
        }
    }

    /// Stores the missing check values, or throws `OtherKeys` and stores none.
    ///
    /// Of two workers that are the first with an id, the second waits for the first one's row lock and then reads the
    /// row.
    package func register(_ values: [KeyCheckValue]) async throws {
        let values = Self.inLockOrder(values)
        try await pool.withTransaction { transaction in
            let answers = try transaction.run([Self.insert(values), Self.read(values)])
            // The error rolls the transaction back.
            try Self.expectSame(values, in: answers[1])
        }
    }

    /// Compares through a function, for a login that may not read the table; throws `OtherKeys` on a difference.
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
    /// Reads a ring and an id from the first two columns.
    init(_ row: Row) throws(PostgresError) {
        self.init(ring: try row.text(0), id: KeyID(try row.int16(1)))
    }
}
