// SPDX-License-Identifier: Apache-2.0

import PostgresClient

extension Migrator {
    /// Throws a refusal where the database has another place; one without a place, or without tables, is free to take it.
    ///
    /// To be asked of every database before any is migrated: a list in the wrong order then changes nothing.
    package func checkPlace() async throws {
        let place = place
        try await pool.withSession { session in try Self.checkPlace(place, session) }
    }

    static func checkPlace(_ wanted: ShardPlace, _ session: Session) throws {
        if let place = try place(session), place != wanted { throw Refusal.misplaced(place, wanted: wanted) }
    }

    /// The place that the database has; nil before it has one.
    static func place(_ session: Session) throws -> ShardPlace? {
        let exists = try session.execute(Statement("SELECT to_regclass('courier.shard') IS NOT NULL"))
        guard try exists.onlyRow.bool(0) else { return nil }
        for row in try session.execute(Statement("SELECT number, count FROM courier.shard")) {
            return ShardPlace(Int(try row.int16(0)), of: Int(try row.int16(1)))
        }
        return nil
    }

    /// Gives the database its place, unless it has one by now, which then must be the same.
    static func take(_ place: ShardPlace, _ session: Session) throws {
        try session.execute(
            Statement(
                "INSERT INTO courier.shard (number, count) VALUES ($1, $2) ON CONFLICT DO NOTHING",
                [.int16(Int16(clamping: place.number)), .int16(Int16(clamping: place.count))]
            )
        )
        try checkPlace(place, session)
    }
}
