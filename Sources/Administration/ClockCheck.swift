// SPDX-License-Identifier: Apache-2.0

package import Formats
package import PostgresClient

/// Compares a worker's clock with a database's.
///
/// An id contains the worker's time, but the database's clock creates and drops the daily partitions: rows with a
/// distant time would be dropped while they live, or block the creation of future partitions.
package enum ClockCheck {
    /// Rows are kept for at least a day beyond their lives, and partitions are created three days ahead.
    package static let tolerance = Duration.seconds(12 * 3600)

    package struct Apart: Error, Equatable, CustomStringConvertible {
        /// The lead of the worker's clock over the database's; negative when it is behind.
        package let lead: Duration

        package var description: String {
            let hours = (lead.components.seconds.magnitude + 1800) / 3600
            let side = lead > .zero ? "ahead of" : "behind"
            return "this machine's clock is \(hours) hours \(side) the database's: set both right, such as by NTP"
        }
    }

    /// Returns the lead; throws `Apart` when it is beyond `tolerance`, or the database's error.
    @discardableResult
    package static func run(_ pool: PostgresPool, at now: @escaping @Sendable () -> Timestamp) async throws -> Duration
    {
        let lead = try await lead(pool, at: now)
        guard (.zero - tolerance...tolerance).contains(lead) else { throw Apart(lead: lead) }
        return lead
    }

    /// The least possible lead of the worker's clock over the database's; negative when it is behind.
    package static func lead(_ pool: PostgresPool, at now: @escaping @Sendable () -> Timestamp) async throws -> Duration
    {
        try await pool.withSession { session in
            let before = now()
            let row = try session.execute(Statement("SELECT clock_timestamp()")).onlyRow
            return lead(before: before, database: Timestamp(microseconds: try row.timestamp(0)), after: now())
        }
    }

    /// The lead closest to zero that the round trip allows, so that a slow answer does not count as a wrong clock.
    static func lead(before: Timestamp, database: Timestamp, after: Timestamp) -> Duration {
        let least = min(before, after) - database
        let most = max(before, after) - database
        return least > .zero ? least : min(most, .zero)
    }
}
