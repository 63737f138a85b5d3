// SPDX-License-Identifier: Apache-2.0

package import PostgresClient

/// The setting `events.approved`, in the database for `courier.check_code`, whose caller has no configuration of ours.
///
/// The last worker that starts decides, so that a roll-out ends with the new value, whichever worker starts first.
package enum EventSetting {
    /// Stores the setting; true if it was another one.
    package static func set(approved: Bool, _ pool: PostgresPool) async throws -> Bool {
        try await pool.withSession { session in
            try session.execute(store(approved: approved)).count > 0
        }
    }

    static func store(approved: Bool) -> Statement {
        Statement(
            """
            UPDATE courier.event_setting s SET approved = $1
            WHERE s.is_only_row AND s.approved <> $1
            RETURNING s.approved
            """,
            [.bool(approved)]
        )
    }
}
