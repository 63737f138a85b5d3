// SPDX-License-Identifier: Apache-2.0

@testable import Ledger

extension PostgresLedger {
    /// The same ledger, which has not swept yet: for tests in which time goes back, or the past changes.
    var anew: PostgresLedger { PostgresLedger(pool: pool, keys: keys, settings: settings) }
}
