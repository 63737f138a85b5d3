// SPDX-License-Identifier: Apache-2.0

package import PostgresClient
package import Verification

/// The ledger in PostgreSQL.
///
/// Every method is one transaction of set-based statements, whose number does not depend on the size of the batch.
/// Each follows one pattern: lock and read the facts, let a pure function decide, write the changes and commit.
/// Locks are taken in one order: person, window, request, parcel, send, verification, then those of
/// new persons, windows and requests, tenant gate; within a table by key.
///
/// A batch travels as one array for each column. `unnest` in a SELECT list makes rows of them as they are read; in FROM
/// the server would first store every column on its own, which costs it as much as a tenth of all its work.
package struct PostgresLedger: Ledger {
    /// What the ledger takes from the worker's configuration.
    package struct Settings: Sendable {
        /// `ce_source` of the events that the sweeps make.
        package let source: String

        /// How long a claim or an outbox row belongs to the worker that wrote it, by the database's clock.
        package let lease: Duration

        /// Rows that one sweep takes at most.
        package let sweepSize: Int32

        /// How much of the outbox one sweep takes at most, in bytes.
        package let sweepBytes: Int64

        /// Whether a send that may have left is handed over once more (`worker.unknownOutcome: resend_once`).
        package let repeatsUnknown: Bool

        /// How long a receipt waits for its send.
        package let receiptGrace: Duration

        /// How long rows are kept after their day is over.
        package let retention: Duration

        package init(
            source: String,
            lease: Duration = .seconds(30),
            sweepSize: Int32 = 500,
            sweepBytes: Int64 = 16_777_216,
            repeatsUnknown: Bool = false,
            receiptGrace: Duration = .seconds(3600),
            retention: Duration = .seconds(24 * 3600)
        ) {
            self.source = source
            self.lease = lease
            self.sweepSize = sweepSize
            self.sweepBytes = sweepBytes
            self.repeatsUnknown = repeatsUnknown
            self.receiptGrace = receiptGrace
            self.retention = retention
        }
    }

    let pool: PostgresPool
    let keys: KeySource
    let settings: Settings
    let dueSends = SweepStart()
    let expiries = SweepStart()

    /// Records are parked at the time of their transaction, and else have a lease in the future.
    let unpublished = SweepStart(margin: .seconds(5))
    let packs = OpenPacks()
    let held = OpenParcels()
    let fullWindows = FullWindows()
    let heldRows = HeldRows()
    let snapshots = SnapshotWatch()
    let onMismatch: @Sendable (CodeMismatch) -> Void

    /// A ledger that calls `onMismatch` for each send that fails since its code is not the one that was hashed.
    package init(
        pool: PostgresPool,
        keys: KeySource,
        settings: Settings,
        onMismatch: @escaping @Sendable (CodeMismatch) -> Void = { _ in }
    ) {
        self.pool = pool
        self.keys = keys
        self.settings = settings
        self.onMismatch = onMismatch
    }

    /// Settings of the sessions that run the ledger's statements.
    ///
    /// Every statement reaches its rows by their keys, a batch at a time. While a table's statistics are missing or old,
    /// the planner prefers plans that read a whole table or a whole index: a scan, a hash or merge join, a bitmap of all
    /// that a limit would leave out, or a nested loop that begins at the table because its conditions look selective, or
    /// because the table is still small. The first ones are switched off; the last is made dear by charging for every
    /// index entry what many pages cost. So one plan is right for every batch, and is made once.
    package static let sessionSettings = [
        (name: "enable_hashjoin", value: "off"), (name: "enable_mergejoin", value: "off"),
        (name: "enable_seqscan", value: "off"), (name: "enable_bitmapscan", value: "off"),
        (name: "cpu_index_tuple_cost", value: "100"), (name: "jit", value: "off"),
        (name: "plan_cache_mode", value: "force_generic_plan"),
    ]

    /// The parameters of `= ANY ($1) AND … BETWEEN $2 AND $3`, where a key in time's order is looked up: the server reads the
    /// days between these and not all, which `= ANY` alone does not tell it.
    static func bounded(_ ids: [UInt128]) -> [Parameter] {
        [.uuids(ids), .uuid(ids.min() ?? 0), .uuid(ids.max() ?? 0)]
    }

    var leaseParameter: Parameter { .int64(settings.lease.microseconds) }
}

extension PostgresError: BatchFailure {
    package var isTimeout: Bool {
        code == .server && sqlState == .queryCanceled || code == .connectionLost && sqlState == .transactionTimeout
    }
    package var isLockConflict: Bool { isContention && !isTimeout }
}

extension Timestamp {
    init(_ row: Row, _ column: Int) throws(PostgresError) {
        self.init(microseconds: try row.timestamp(column))
    }
}

extension Statement {
    /// Asks for the time by the database's clock.
    static let clock = Statement("SELECT clock_timestamp()").repeated
}

extension Rows {
    /// The one value of a statement that asks for the time.
    func clock() throws(PostgresError) -> Timestamp {
        for row in self { return try Timestamp(row, 0) }
        throw PostgresError(.unexpectedResult)
    }
}
