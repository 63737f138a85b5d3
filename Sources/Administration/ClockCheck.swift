// SPDX-License-Identifier: Apache-2.0

package import PostgresClient
package import Verification

/// Compares a worker's clock with a database's.
///
/// An id holds the worker's time, and the tables of days are made and dropped by the database's: rows from far away would
/// be dropped while they live, or keep the tables of days to come from being made.
package enum ClockCheck {
    /// Rows are kept for a day beyond their lives at least, and days are made three ahead.
    package static let tolerance = Duration.seconds(12 * 3600)

    package struct Apart: Error, Equatable, CustomStringConvertible {
        /// How far the worker's clock is ahead of the database's; negative when it is behind.
        package let lead: Duration

        package var description: String {
            let hours = (lead.components.seconds.magnitude + 1800) / 3600
            let side = lead > .zero ? "ahead of" : "behind"
            return "this machine's clock is \(hours) hours \(side) the database's: set both right, such as by NTP"
        }
    }

    /// Throws `Apart` when no worker may start with such a clock, or the database's error; else returns the lead.
    @discardableResult
    package static func run(_ pool: PostgresPool, at now: @escaping @Sendable () -> Timestamp) async throws -> Duration
    {
        let lead = try await lead(pool, at: now)
        guard (.zero - tolerance...tolerance).contains(lead) else { throw Apart(lead: lead) }
        return lead
    }

    /// How far the worker's clock is surely ahead of the database's; negative when it is behind.
    package static func lead(_ pool: PostgresPool, at now: @escaping @Sendable () -> Timestamp) async throws -> Duration
    {
        try await pool.withSession { session in
            let before = now()
            let row = try session.execute(Statement("SELECT clock_timestamp()")).onlyRow
            return lead(before: before, database: Timestamp(microseconds: try row.timestamp(0)), after: now())
        }
    }

    /// The lead that is closest to none of all that the round trip allows: a slow answer makes no clock wrong.
    static func lead(before: Timestamp, database: Timestamp, after: Timestamp) -> Duration {
        let least = min(before, after) - database
        let most = max(before, after) - database
        return least > .zero ? least : min(most, .zero)
    }
}
