// SPDX-License-Identifier: Apache-2.0

import TestSupport
import TestTools
import Testing
import Verification

/// The ledger's tables as values: what a database would know between two decisions, with a clock that a test sets.
///
/// It is as naive as can be: whole rows in dictionaries, every write at once. Limits are off, so that slots, windows and
/// identity are all that decides.
struct DecisionTables {
    static let source = "/test"

    private(set) var policy: Policy
    let numbers: any NumberDirectory
    var keys: CodeKeys
    var now = Timestamp.test

    /// Where the ids of verifications and sends come from: the same in every run.
    private var identifiers = TestSeed(seed: 0)

    private(set) var requests: [RequestKey: KnownRequest] = [:]
    private(set) var slots: [SlotKey: VerificationID] = [:]
    var verifications: [VerificationID: StoredVerification] = [:]
    var sends: [SendID: HeldSend] = [:]

    /// A send without an outcome.
    struct HeldSend {
        var claim: ClaimedSend
        var state: DueSend.State
        var attempts: Int16
        var leaseUntil: Timestamp
    }

    init(
        numbers: any NumberDirectory = FixedNumbers(),
        keys: CodeKeys = .test,
        _ change: (inout TenantPolicy) -> Void = { _ in }
    ) {
        policy = Self.policy(change)
        self.numbers = numbers
        self.keys = keys
    }

    /// Forgets the ids of requests, as the database does after a day or two.
    mutating func forgetRequests() { requests = [:] }

    /// Changes the policy from now on.
    mutating func change(_ change: (inout TenantPolicy) -> Void) { policy = Self.policy(change) }

    private static func policy(_ change: (inout TenantPolicy) -> Void) -> Policy {
        .test { tenant in
            tenant.limits = LimitPolicy(perRecipient: [], perIP: [], perTenant: [])
            change(&tenant)
        }
    }

    mutating func candidate(_ record: InboundRecord) -> Candidate {
        Screener(policy: policy, keys: keys, numbers: numbers).candidate(for: record, now: now, using: &identifiers)
    }

    mutating func candidates(_ records: [InboundRecord]) -> [Candidate] {
        records.map { candidate($0) }
    }

    @discardableResult
    mutating func intake(_ records: InboundRecord...) -> IntakeChanges {
        intake(candidates(records))
    }

    /// Decides a batch and writes what it changes.
    mutating func intake(_ candidates: [Candidate]) -> IntakeChanges {
        let changes = IntakeRules.test(policy, keys: keys).decide(candidates, facts: facts(of: candidates))
        expectContract(of: changes.outbox)
        for verification in changes.insertedVerifications + changes.updatedVerifications {
            verifications[verification.id] = verification
        }
        requests.merge(changes.requests) { $1 }
        slots.merge(changes.slots) { $1 }
        for claim in changes.sends {
            sends[claim.id] = HeldSend(claim: claim, state: .claimed, attempts: 0, leaseUntil: now + .seconds(30))
        }
        return changes
    }

    /// Every event that the tables' tests see is one that the published schema allows.
    func expectContract(of records: [OutboxRecord]) {
        #expect(EventContract.violations(in: records) == [])
    }

    /// New requests are written before the facts are read, as the database does it: the first candidate of a key wins.
    private mutating func facts(of candidates: [Candidate]) -> IntakeFacts {
        var batchSlots: [SlotKey: VerificationID] = [:]
        var batchRequests: [RequestKey: KnownRequest] = [:]
        for candidate in candidates {
            let own = KnownRequest(of: candidate)
            requests[candidate.key] = requests[candidate.key] ?? own
            batchRequests[candidate.key] = requests[candidate.key]
            for passed in candidate.possiblyPassed {
                batchSlots[passed.slot] = slots[passed.slot]
            }
        }
        let known = Set(batchSlots.values).union(batchRequests.values.compactMap(\.verificationID))
        return IntakeFacts(
            now: now,
            requests: batchRequests,
            slots: batchSlots,
            verifications: verifications.filter { known.contains($0.key) }
        )
    }
}
