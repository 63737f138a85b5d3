// SPDX-License-Identifier: Apache-2.0

import Formats
import PostgresClient
import Verification

extension PostgresLedger {
    @discardableResult
    package func maintain() async throws -> Duration {
        try await pool.withSession { session in
            let takesPartitions = try session.execute(Statement("SELECT courier.take_partitions()")).onlyRow.bool(0)
            // One transaction for each table, so that a long read of one table delays no other.
            var failure: (any Error)?
            for table in takesPartitions ? ["request", "verification", "send", "message"] : [] {
                do {
                    try session.execute(
                        Statement(
                            "SELECT courier.maintain_days($1, $2 * interval '1 microsecond')",
                            [.text(table), .int64(settings.retention.microseconds)]
                        )
                    )
                } catch {
                    failure = error
                }
            }
            try session.execute(
                Statement(
                    "SELECT courier.forget_slices($1 * interval '1 microsecond')",
                    [.int64(settings.retention.microseconds)]
                )
            )
            if let failure { throw failure }
            let age = try session.execute(
                Statement("SELECT (extract(epoch FROM courier.maintenance_age()) * 1000000)::bigint")
            )
            return .microseconds(try age.onlyRow.int64(0))
        }
    }
}
