// SPDX-License-Identifier: Apache-2.0

import Verification

@testable import Ledger

extension Ledger {
    /// One sweep of every database, as a worker with room for so many sends makes it.
    func sweepSends(capacity: Int) async throws -> Recorded<[ClaimedSend]> {
        var claims: [ClaimedSend] = []
        var outbox: [OutboxRecord] = []
        for database in 0..<databases {
            let swept = try await sweepSends(of: database, capacity: capacity - claims.count)
            claims += swept.value
            outbox += swept.outbox
        }
        return Recorded(claims, outbox: outbox)
    }

    /// One sweep of every database's outbox.
    func sweepOutbox() async throws -> [OutboxRecord] {
        var records: [OutboxRecord] = []
        for database in 0..<databases { records += try await sweepOutbox(of: database) }
        return records
    }
}

extension PostgresLedger {
    /// The same ledger, which has not swept yet: for tests in which time goes back, or the past changes.
    var anew: PostgresLedger { PostgresLedger(pool: pool, keys: keys, settings: settings) }
}
