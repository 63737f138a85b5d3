// SPDX-License-Identifier: Apache-2.0

package import Formats

/// The durable store of all decisions, as the pipeline sees it.
///
/// Each method is one transaction for a whole batch, and may be repeated after an error: a change that was already made
/// is recognised by its key and not made again. An error means that the database failed, never that a request is wrong.
package protocol Ledger: Sendable {
    /// Locks and reads the facts of a batch, decides it by the rules, and stores the changes.
    ///
    /// Candidates whose rows another transaction locks are left out. Throws `UnrecordableBatch` if a value in the batch
    /// is at fault, not the database.
    func intake(_ candidates: [Candidate], by rules: IntakeRules) async throws -> Recorded<IntakeResult>

    /// Marks claims as dispatching, and returns those that may be sent: still held, and within their deadline.
    ///
    /// `tried` has, for claims whose providers must be known if the worker dies, the providers that refused the message
    /// and then the one to be called.
    func markDispatching(_ claims: [ClaimedSend], tried: [SendClaim: [String]]) async throws -> Set<SendClaim>

    /// Stores the results of claimed sends.
    ///
    /// A result whose claim was lost changes nothing. Throws `UnrecordableBatch` if a value is at fault.
    func record(_ results: [SendResult]) async throws -> Recorded<RecordResult>

    /// Releases claims whose message was surely not sent, marked or not, so that any worker may claim them at once.
    func release(_ claims: [ClaimedSend]) async throws

    /// Takes over sends whose lease or delay is over: claims up to `capacity` of those surely not sent, and settles the
    /// others.
    func sweepSends(capacity: Int) async throws -> Recorded<[ClaimedSend]>

    /// Expires verifications that ended without approval.
    func sweepExpired() async throws -> Recorded<Void>

    /// Settles sends by their providers' receipts; a receipt without a known send is kept.
    ///
    /// Receipts whose row another transaction locks are left out.
    func receive(_ receipts: [ReceivedReceipt], deadLetters: [OutboxRecord]) async throws -> Recorded<ReceiptResult>

    /// Looks up the sends of waiting receipts again, and returns the number of receipts.
    ///
    /// A receipt that has waited too long becomes a dead letter.
    func sweepReceipts() async throws -> Recorded<Int>

    /// Takes over records that no worker publishes: their worker is gone, or they waited behind others of their stream.
    ///
    /// Records of one stream are returned in order and without a gap, from the first unpublished one on.
    func sweepOutbox() async throws -> [OutboxRecord]

    /// Deletes records that the broker acknowledged; returns true if more records wait behind them.
    ///
    /// Also to be called regularly without records: records written together are deleted together, unless some have to
    /// wait for long.
    @discardableResult func published(_ records: [OutboxRecord]) async throws -> Bool

    /// Shortens the lease of the unpublished records of these records' streams, so that they can be taken over after a
    /// pause.
    func release(_ records: [OutboxRecord], after pause: Duration) async throws

    /// Makes records of streams available for takeover now if their pause or lease ends within a limit.
    ///
    /// A longer lease means that another worker took the records over, and it keeps them.
    func recall(_ streams: [UUIDValue], within limit: Duration) async throws

    /// Terminates this login's sessions that are idle inside a transaction, and returns their number.
    ///
    /// Such a session would hold its locks without limit.
    func endStalledSessions() async throws -> Int

    /// Creates the coming partitions, drops those past retention, and deletes a batch of other old rows.
    ///
    /// To be called every few seconds; one of all workers does each task that is due. Returns how long ago all
    /// partitions were last up to date.
    @discardableResult func maintain() async throws -> Duration
}

extension Ledger {
    /// By default there are no sessions to terminate.
    package func endStalledSessions() async throws -> Int { 0 }

    package func markDispatching(_ claims: [ClaimedSend]) async throws -> Set<SendClaim> {
        try await markDispatching(claims, tried: [:])
    }
}

/// A batch holds a value that the database will never accept.
package struct UnrecordableBatch: Error {
    package init() {}
}

package struct IntakeResult: Sendable {
    /// The new sends, each claimed by the deciding worker.
    package let sends: [ClaimedSend]

    /// The candidates whose rows another transaction locks: nothing was written for them.
    package let waiting: [Candidate]

    /// The results of the toll-fraud brake.
    package let brake: BrakeEffects

    /// The results of the budgets.
    package let budgets: BudgetEffects

    package init(
        sends: [ClaimedSend],
        waiting: [Candidate] = [],
        brake: BrakeEffects = BrakeEffects(),
        budgets: BudgetEffects = BudgetEffects()
    ) {
        self.sends = sends
        self.waiting = waiting
        self.brake = brake
        self.budgets = budgets
    }
}

package struct RecordResult: Sendable {
    /// The results that wait for another transaction's lock.
    package let waiting: [SendResult]

    /// The sends whose claims held until their results were stored.
    package let settled: Set<SendID>

    package init(waiting: [SendResult] = [], settled: Set<SendID> = []) {
        self.waiting = waiting
        self.settled = settled
    }
}

package struct ReceiptResult: Sendable {
    package let settled: [ReportedSend]

    /// The receipts whose row another transaction locks: nothing was written for them.
    package let waiting: [ReceivedReceipt]

    package init(settled: [ReportedSend], waiting: [ReceivedReceipt] = []) {
        self.settled = settled
        self.waiting = waiting
    }
}

/// An error of a ledger that shows if a part of the batch may succeed.
package protocol BatchFailure: Error {
    var isTimeout: Bool { get }

    /// True if another transaction locks a row or a table, or has inserted a key without committing yet.
    var isLockConflict: Bool { get }

    /// True unless the transaction may have been committed.
    var hasSurelyWrittenNothing: Bool { get }
}

extension Error {
    package var isBatchTimeout: Bool { batchFailure?.isTimeout == true }

    package var isLockConflict: Bool { batchFailure?.isLockConflict == true }

    package var hasSurelyWrittenNothing: Bool {
        self is UnrecordableBatch || batchFailure?.hasSurelyWrittenNothing == true
    }

    private var batchFailure: (any BatchFailure)? { self as? any BatchFailure }
}

/// The result of a transaction, with the outbox records that it wrote.
package struct Recorded<Value: Sendable>: Sendable {
    package let value: Value

    /// The records in the order in which they must be published, which is that of the decisions.
    package let outbox: [OutboxRecord]

    package init(_ value: Value, outbox: [OutboxRecord]) {
        self.value = value
        self.outbox = outbox
    }
}

/// Reads the backlog of the whole fleet from the database.
package protocol BacklogGauge: Sendable {
    /// Counts in one statement whose cost does not grow with the backlog; throws if the database failed.
    func backlog() async throws -> Backlog
}

/// The numbers of rows that wait, each at most `Backlog.limit`.
package struct Backlog: Sendable, Equatable {
    package static let limit: Int32 = 10_000

    /// The sends that are due and claimed by no worker.
    package let dueSends: Int

    /// The outbox records that are not known to be published.
    package let outbox: Int

    /// The age of the database's oldest snapshot: rows deleted since then cannot be vacuumed.
    package let snapshotAge: Duration

    package init(dueSends: Int, outbox: Int, snapshotAge: Duration = .zero) {
        self.dueSends = dueSends
        self.outbox = outbox
        self.snapshotAge = snapshotAge
    }
}
