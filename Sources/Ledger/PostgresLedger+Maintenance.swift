// SPDX-License-Identifier: Apache-2.0

import PostgresClient
import Verification

extension PostgresLedger {
    package func maintain() async throws {
        try await pool.withSession { session in
            let takesPartitions = try session.execute(Statement("SELECT courier.take_partitions()")).onlyRow.bool(0)
            // Each in a transaction of its own; one that is read by somebody for long keeps up no other.
            var failure: (any Error)?
            for table in takesPartitions ? ["request", "verification", "send"] : [] {
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
        }
    }
}
