// SPDX-License-Identifier: Apache-2.0

import PostgresClient
import Verification

/// The attempts at a batch of requests, by its conflicts with other transactions.
///
/// 1. Optimistic: a transaction locks the rows that exist, decides by them, and inserts the others.
/// 2. Begun rows: another worker inserted one of them meanwhile. An IP address's window is read in the same transaction,
///    up to three times; a person or a request in a new transaction.
/// 3. Gates: windows still conflict, or a tenant's limit does. A transaction inserts all missing rows, then locks the
///    gates of the tenants, so that every other worker waits.
/// 4. Skip locked: a lock timeout. The locked rows are found without waiting, the candidates that need them are
///    deferred, and the others begin again at 1. If no row is locked, the lock is on a table or a tenant's gate: a
///    part of the batch would time out as well.
struct ConflictPolicy {
    enum Locking { case optimistic, gates }

    enum Step {
        case decideAgain
        case setAsideLocked
    }

    /// Maximum of times that one transaction reads windows that others have begun.
    static let windowReads = 3

    private(set) var locking = Locking.optimistic
    private var checksLeft = 2

    /// The next step after an attempt that failed; nil when the error is no conflict, or stays one.
    mutating func next(after error: any Error) -> Step? {
        if error is ReopenedWindow { return .decideAgain }
        if let error = error as? PostgresError {
            if error.isBegunWindow || error.isTenantLimit && locking == .optimistic {
                locking = .gates
                return .decideAgain
            }
            if error.isBegunRow { return .decideAgain }
        }
        guard error.isLockConflict, checksLeft > 0 else { return nil }
        checksLeft -= 1
        locking = .optimistic
        return .setAsideLocked
    }
}

/// A remembered window is not full any more: the next transaction locks its row.
struct ReopenedWindow: Error {}

extension PostgresError {
    /// True when another worker has inserted the same window meanwhile.
    var isBegunWindow: Bool { sqlState == .uniqueViolation && table == "limit_window" }

    /// True when another worker has inserted the same person or request meanwhile; the next attempt reads it.
    fileprivate var isBegunRow: Bool {
        sqlState == .uniqueViolation && (table == "person" || table?.hasPrefix("request_") == true)
    }

    /// True when the batch would exceed a tenant's limit together with others: raised by `courier.admit_tenants`.
    fileprivate var isTenantLimit: Bool { sqlState == SQLState(rawValue: "CC001") }
}
