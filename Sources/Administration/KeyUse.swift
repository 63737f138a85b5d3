// SPDX-License-Identifier: Apache-2.0

package import Formats
package import PostgresClient
package import Verification

/// The live rows that need one key.
package struct KeyNeed: Sendable, Equatable {
    package let name: KeyName
    package let rows: Int64

    /// The time from which on none of these rows needs the key.
    package let until: Timestamp

    /// The start of a sentence about the need.
    package var sentence: String { rows == 1 ? "1 live row needs it" : "\(Int(rows).grouped) live rows need it" }

    package init(name: KeyName, rows: Int64, until: Timestamp) {
        (self.name, self.rows, self.until) = (name, rows, until)
    }
}

/// The keys that live rows of a database need: codes under way can be checked, sent again and opened only with them.
///
/// No row names its fingerprint key, so that ring is in no answer.
package struct KeyUse: Sendable {
    private let pool: PostgresPool

    /// - Parameter pool: connections of a role that is granted `courier_worker` or `courier_operator`, or of the owner.
    package init(_ pool: PostgresPool) {
        self.pool = pool
    }

    /// Keys that live rows need and that the rings lack.
    package struct MissingKeys: Error, Equatable, CustomStringConvertible {
        package let needs: [KeyNeed]

        package init(_ needs: [KeyNeed]) {
            self.needs = needs
        }

        /// The time from which on no row needs any of them.
        package var until: Timestamp { needs.map(\.until).max() ?? .now }

        package var description: String {
            let keys = needs.map { need in
                "\(need.name) is missing, and \(need.sentence) until \(need.until.rfc3339)"
            }
            return "\(keys.joined(separator: "; ")): put it back at the end of the ring, and take it out after that"
        }
    }

    /// The need of live rows for each key.
    package func needs() async throws -> [KeyNeed] {
        try await pool.withSession { try Self.needs($0) }
    }

    /// Throws `MissingKeys` if live rows need a key that the rings lack.
    ///
    /// Rows are read only if the fleet has had a key that is not in the rings.
    package func expectAll(in keys: CodeKeys) async throws {
        let names = keys.names
        let missing = try await pool.withSession { session in
            let absent = try session.execute(Self.absent(names)).onlyRow.bool(0)
            return try absent ? Self.needs(session).filter { !names.contains($0.name) } : []
        }
        if !missing.isEmpty { throw MissingKeys(missing) }
    }

    private static func needs(_ session: Session) throws -> [KeyNeed] {
        try session.execute(Statement("SELECT ring, id, needed_by, needed_until FROM courier.key_use()")).map { row in
            KeyNeed(
                name: try KeyName(row),
                rows: try row.int64(2),
                until: Timestamp(microseconds: try row.timestamp(3))
            )
        }
    }

    /// True if the fleet has had a key other than these.
    private static func absent(_ names: [KeyName]) -> Statement {
        Statement(
            """
            SELECT EXISTS (
                SELECT FROM courier.key_check k
                WHERE k.ring <> 'fingerprint' AND NOT EXISTS (
                    SELECT FROM unnest($1::text[], $2::int2[]) AS u(ring, id) WHERE u.ring = k.ring AND u.id = k.id
                )
            )
            """,
            [.texts(names.map(\.ring)), .int16s(names.map(\.id.number))]
        )
    }
}
