// SPDX-License-Identifier: Apache-2.0

import Formats
package import PostgresClient
package import Verification

/// The ledger in PostgreSQL.
///
/// Every method is one transaction of set-based statements, whose number does not depend on the size of the batch.
/// Each follows one pattern: lock and read the facts, let a pure function decide, write the changes and commit.
/// Locks are acquired in one order: person, window, request, parcel, send, verification, then those of
/// new persons, windows and requests, tenant gate; within a table by key.
///
/// A batch is sent as one array for each column. `unnest` in a SELECT list produces rows as they are read; in FROM the
/// server would first store every column on its own, which costs as much as a tenth of all its work.
package struct PostgresLedger: Ledger {
    let pool: PostgresPool
    let keys: KeySource
    let settings: WorkerSettings
    let dueSends = SweepStart()
    let expiries = SweepStart()

    /// A small margin suffices: parked records are due at the time of their transaction, others at the end of a lease.
    let unpublished = SweepStart(margin: .seconds(5))
    let openPacks = OpenPacks(maxWait: .seconds(1))
    let openParcels = OpenParcels()
    let fullWindows = FullWindows()
    let heldRows = HeldRows()
    let snapshots = SnapshotWatch()
    let onMismatch: @Sendable (CodeMismatch) -> Void

    /// Makes a ledger that calls `onMismatch` for each send that fails because its code does not match the stored hash.
    package init(
        pool: PostgresPool,
        keys: KeySource,
        settings: WorkerSettings,
        onMismatch: @escaping @Sendable (CodeMismatch) -> Void = { _ in }
    ) {
        self.pool = pool
        self.keys = keys
        self.settings = settings
        self.onMismatch = onMismatch
    }

    /// Session settings for the ledger's statements.
    ///
    /// Every statement looks up its rows by key, a batch at a time. While a table's statistics are missing or old, the
    /// planner prefers plans that read a whole table or index: a scan, a hash or merge join, a bitmap of all rows that
    /// a limit would leave out, or a nested loop that starts at the table because its conditions look selective or the
    /// table was small. The first ones are switched off. A cost per index entry of many pages makes the last one too
    /// expensive. So one generic plan suits every batch, and is planned once.
    package static let sessionSettings = [
        (name: "enable_hashjoin", value: "off"), (name: "enable_mergejoin", value: "off"),
        (name: "enable_seqscan", value: "off"), (name: "enable_bitmapscan", value: "off"),
        (name: "cpu_index_tuple_cost", value: "100"), (name: "jit", value: "off"),
        (name: "plan_cache_mode", value: "force_generic_plan"),
    ]

    /// The parameters of `= ANY ($1) AND … BETWEEN $2 AND $3`, for keys in time order.
    ///
    /// With the bounds the server reads only the days between them; `= ANY` alone would read all days.
    static func bounded(_ ids: [UInt128]) -> [Parameter] {
        [.uuids(ids), .uuid(ids.min() ?? 0), .uuid(ids.max() ?? 0)]
    }

    var leaseParameter: Parameter { .int64(settings.lease.microseconds) }
}

extension WorkerSettings {
    /// The maximum of rows in one sweep.
    var sweepSize: Int32 { Int32(clamping: batchSize) }
}

extension PostgresError: BatchFailure {
    package var isTimeout: Bool {
        code == .server && sqlState == .queryCanceled || code == .connectionLost && sqlState == .transactionTimeout
    }
    package var isLockConflict: Bool { isContention && !isTimeout }

    /// An error that the server answers undoes the transaction; one that a proxy answers for it says nothing.
    package var hasSurelyWrittenNothing: Bool {
        switch code {
        case .server: !isConnectionError
        case .connectionFailed, .connectionLost, .poolExhausted, .transactionAborted: true
        case .ambiguousCommit, .unexpectedResult, .closed, .misuse: false
        }
    }
}

extension Timestamp {
    init(_ row: Row, _ column: Int) throws(PostgresError) {
        self.init(microseconds: try row.timestamp(column))
    }
}

extension Statement {
    static let clock = Statement("SELECT clock_timestamp()").repeated
}

extension Rows {
    func clock() throws(PostgresError) -> Timestamp {
        for row in self { return try Timestamp(row, 0) }
        throw PostgresError(.unexpectedResult)
    }
}

/// The error for a row with a value that this version does not know, written by a newer worker.
///
/// The row is left to newer workers, like one that another transaction locks.
struct UnknownValue: BatchFailure {
    var isTimeout: Bool { false }
    var isLockConflict: Bool { true }
    var hasSurelyWrittenNothing: Bool { true }
}

extension Sequence {
    /// Maps the rows, and skips those with a value that this version does not know.
    func mapKnown<Value>(_ transform: (Element) throws -> Value) rethrows -> [Value] {
        try compactMap { row in
            do { return try transform(row) } catch is UnknownValue { return nil }
        }
    }
}
