// SPDX-License-Identifier: Apache-2.0

/// The durable record of everything that was decided, as the pipeline sees it.
///
/// Each method is one transaction for a whole batch, and may be repeated after an error: a change that was made is
/// recognised by its key and not made again. Errors mean that the database failed, never that a request is wrong.
package protocol Ledger: Sendable {
    /// Locks and reads the facts of a batch, decides it by the rules, and records the changes.
    ///
    /// Candidates whose rows another transaction locks are left out. Throws `UnrecordableBatch` when a value in the batch,
    /// not the database, is at fault.
    func intake(_ candidates: [Candidate], by rules: IntakeRules) async throws -> Recorded<IntakeResult>

    /// Marks claims as about to leave, and returns those that may: still ours, and within their deadline.
    ///
    /// `tried` are the providers that refused a message, and last the one that it is about to be given to, where that is
    /// to be known if the worker dies.
    func markDispatching(_ claims: [ClaimedSend], tried: [SendClaim: [String]]) async throws -> Set<SendClaim>

    /// Records what became of claimed sends, and returns the results that wait for a lock that another transaction holds.
    ///
    /// A result whose claim has been lost changes nothing. Throws `UnrecordableBatch` where a value is at fault.
    func record(_ results: [SendResult]) async throws -> Recorded<[SendResult]>

    /// Hands claims back of which nothing has left, marked or not, so that others may take them at once.
    func release(_ claims: [ClaimedSend]) async throws

    /// Takes over sends whose lease or delay has run out: those that surely never left are claimed, up to `capacity`, and the
    /// others settled.
    func sweepSends(capacity: Int) async throws -> Recorded<[ClaimedSend]>

    /// Ends verifications that ran out unapproved.
    func sweepExpired() async throws -> Recorded<Void>

    /// Settles sends by what providers say of them; a receipt whose send is not there yet is kept.
    ///
    /// Receipts whose row another transaction locks are left out.
    func receive(_ receipts: [ReceivedReceipt], deadLetters: [OutboxRecord]) async throws -> Recorded<ReceiptResult>

    /// Looks again for the sends of receipts that wait, and returns of how many; what has waited too long becomes a dead
    /// letter.
    func sweepReceipts() async throws -> Recorded<Int>

    /// Takes over records that nobody publishes: another worker left them, or they waited behind others of their stream.
    ///
    /// Those of a stream come in their order and without a gap, the first unpublished one first.
    func sweepOutbox() async throws -> [OutboxRecord]

    /// Forgets records that the broker has; true when some wait behind these.
    ///
    /// To be called now and then without any, too: what was written together is forgotten together, unless some of it
    /// has to wait for long.
    @discardableResult func published(_ records: [OutboxRecord]) async throws -> Bool

    /// Lets the unpublished records of these records' streams be taken over after a pause, and not when their lease is
    /// over.
    func giveBack(_ records: [OutboxRecord], after pause: Duration) async throws

    /// Lets records of streams be taken over now whose pause, or lease, is over within this time: what somebody took over
    /// meanwhile is theirs.
    func recall(_ streams: [UUIDValue], within limit: Duration) async throws

    /// Ends the database's sessions of this login that stand still in the middle of a transaction, whose locks would else be
    /// held without limit, and returns how many.
    func endStalledSessions() async throws -> Int

    /// Creates the partitions to come, drops those past retention, and forgets a part of what else is old.
    ///
    /// To be called every few seconds: it does what is due for all workers together. Returns how long ago all partitions
    /// were as they should be.
    @discardableResult func maintain() async throws -> Duration
}

extension Ledger {
    /// A ledger without sessions has none that stand still.
    package func endStalledSessions() async throws -> Int { 0 }

    package func markDispatching(_ claims: [ClaimedSend]) async throws -> Set<SendClaim> {
        try await markDispatching(claims, tried: [:])
    }
}

/// A batch holds something that the database refuses to store, now and at every other time.
package struct UnrecordableBatch: Error {
    package init() {}
}

/// What a batch of records came to.
package struct IntakeResult: Sendable {
    /// The new sends, each claimed by the deciding worker.
    package let sends: [ClaimedSend]

    /// Candidates whose rows another transaction locks: nothing of them is written.
    package let waiting: [Candidate]

    package init(sends: [ClaimedSend], waiting: [Candidate] = []) {
        self.sends = sends
        self.waiting = waiting
    }
}

/// The result of a batch of receipts.
package struct ReceiptResult: Sendable {
    /// The sends that were settled.
    package let settled: [ReportedSend]

    /// Receipts whose row another transaction locks: nothing of them is written.
    package let waiting: [ReceivedReceipt]

    package init(settled: [ReportedSend], waiting: [ReceivedReceipt] = []) {
        self.settled = settled
        self.waiting = waiting
    }
}

/// An error of a ledger that tells whether a part of the batch may do.
package protocol BatchFailure: Error {
    /// The time for a statement was over.
    var isTimeout: Bool { get }

    /// Another transaction locks a row, a table, or a key that it has not committed yet.
    var isLockConflict: Bool { get }
}

extension Error {
    /// Whether a ledger's statement took too long.
    package var isBatchTimeout: Bool { batchFailure?.isTimeout == true }

    /// Whether a ledger's transaction met a lock of another one.
    package var isLockConflict: Bool { batchFailure?.isLockConflict == true }

    private var batchFailure: (any BatchFailure)? { self as? any BatchFailure }
}

/// The value of a transaction, with the records it left to publish.
package struct Recorded<Value: Sendable>: Sendable {
    package let value: Value

    /// In the order in which they must be published: that of the decisions.
    package let outbox: [OutboxRecord]

    package init(_ value: Value, outbox: [OutboxRecord]) {
        self.value = value
        self.outbox = outbox
    }
}
