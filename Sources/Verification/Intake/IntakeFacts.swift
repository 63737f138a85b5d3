// SPDX-License-Identifier: Apache-2.0

package import Formats

/// The rows that a batch's decisions depend on, read under the locks that the decisions need.
package struct IntakeFacts: Sendable {
    /// The database's clock, after the locks were granted.
    package var now: Timestamp

    /// The stored request of every candidate's key: the candidate's own new row, or an earlier one.
    package let requests: [RequestKey: KnownRequest]

    /// The verification that each slot points to; a new slot has no entry.
    package let slots: [SlotKey: VerificationID]

    /// The verifications that `slots` and `requests` point to.
    package let verifications: [VerificationID: StoredVerification]

    /// The verifications of requests whose rows another transaction locks: they exist, and nothing of them can be written.
    package let unwritable: Set<VerificationID>

    /// The admissions of recipients and IP addresses; a key without admissions has no entry.
    package var windows: [LimitKey: LimitWindow]

    package var tenantUsage: [TenantLimit: Int]

    package init(
        now: Timestamp,
        requests: [RequestKey: KnownRequest],
        slots: [SlotKey: VerificationID],
        verifications: [VerificationID: StoredVerification],
        unwritable: Set<VerificationID> = [],
        windows: [LimitKey: LimitWindow] = [:],
        tenantUsage: [TenantLimit: Int] = [:]
    ) {
        self.now = now
        self.requests = requests
        self.slots = slots
        self.verifications = verifications
        self.unwritable = unwritable
        self.windows = windows
        self.tenantUsage = tenantUsage
    }
}

package struct TenantLimit: Sendable, Hashable {
    package let tenant: String
    package let limit: RateLimit

    package init(tenant: String, limit: RateLimit) {
        self.tenant = tenant
        self.limit = limit
    }
}

/// The changes that a batch's decisions make in the database, with the new sends and the events to publish.
package struct IntakeChanges: Sendable {
    package var insertedVerifications: [StoredVerification] = []
    package var updatedVerifications: [StoredVerification] = []

    /// The requests whose row has to change.
    package var requests: [RequestKey: KnownRequest] = [:]

    /// The new verification of each slot that gets a send.
    package var slots: [SlotKey: VerificationID] = [:]

    /// The windows that count admissions of this batch.
    package var windows: [LimitKey: WindowChange] = [:]

    /// The windows of IP addresses that refused a request of this batch.
    package var fullWindows: [LimitKey: LimitWindow] = [:]

    package var admissions: [String: Int] = [:]

    /// The results of the toll-fraud brake.
    package var brake = BrakeEffects()

    /// The results of the budgets.
    package var budgets = BudgetEffects()

    /// The new sends, each claimed by the deciding worker.
    package var sends: [ClaimedSend] = []

    /// The records to publish, in the order of the decisions.
    package var outbox: [OutboxRecord] = []
}

package struct IntakeRules: Sendable {
    package let policy: Policy
    package let keys: CodeKeys
    package let settings: WorkerSettings

    /// The blocks of the toll-fraud brake.
    package var brake = BrakeBoard.empty

    /// The money that the batch may spend.
    package var purse = BudgetPurse()

    /// Creates the randomness of one batch, for the nonces of its seals.
    private let randomness: @Sendable () -> any RandomNumberGenerator

    package init(
        policy: Policy,
        keys: CodeKeys,
        settings: WorkerSettings,
        randomness: @escaping @Sendable () -> any RandomNumberGenerator = { KernelRandomness() }
    ) {
        self.policy = policy
        self.keys = keys
        self.settings = settings
        self.randomness = randomness
    }

    /// True if a candidate is too old to be sent, so that it is decided without its recipient's rows.
    ///
    /// An unreadable candidate is as old as its record.
    package func isTooLate(_ candidate: Candidate, at now: Timestamp) -> Bool {
        let oldest = now - settings.maxRequestAge
        guard case .request(let request, _) = candidate.content else {
            return candidate.record.firstTimestamp.map { $0 < oldest } ?? false
        }
        let isStale = request.asked(before: now) < oldest
        return isStale || request.deadline.map { $0 <= now } ?? false
    }

    /// Decides a batch of requests: a pure function of the candidates and the facts about them.
    package func decide(_ candidates: [Candidate], facts: IntakeFacts) -> IntakeChanges {
        IntakeDecision(facts: facts, rules: self, randomness: randomness()).changes(by: candidates)
    }
}
