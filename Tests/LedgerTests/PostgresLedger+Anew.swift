// SPDX-License-Identifier: Apache-2.0

@testable import Ledger

extension PostgresLedger {
    /// A new ledger without sweep state, for tests that move time back or change the past.
    var anew: PostgresLedger { PostgresLedger(pool: pool, keys: keys, settings: settings) }
}
