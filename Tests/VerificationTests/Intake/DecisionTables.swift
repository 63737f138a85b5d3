// SPDX-License-Identifier: Apache-2.0

import Formats
import TestSupport
import TestTools
import Testing
import Verification

/// The ledger's tables as values, with a clock that the test sets.
///
/// The implementation is deliberately simple: whole rows in dictionaries, with immediate writes. Limits are off, so
/// only slots, windows and identity decide.
struct DecisionTables {
    static let source = "/test"

    private(set) var policy: Policy
    let numbers: any NumberDirectory
    var keys: CodeKeys
    var now = Timestamp.test

    /// Random source of verification and send ids, the same in every run.
    private var identifiers = TestSeed(seed: 0)

    private(set) var requests: [RequestKey: KnownRequest] = [:]
    private(set) var slots: [SlotKey: VerificationID] = [:]
    var verifications: [VerificationID: StoredVerification] = [:]
    var sends: [SendID: HeldSend] = [:]

    /// The blocks of the toll-fraud brake.
    let brake = BrakeSource()

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

    /// Forgets request ids, as the database does after a day or two.
    mutating func forgetRequests() { requests = [:] }

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

    /// Decides a batch and stores the changes.
    mutating func intake(_ candidates: [Candidate]) -> IntakeChanges {
        var rules = IntakeRules.test(policy, keys: keys)
        rules.brake = brake.current
        let changes = rules.decide(candidates, facts: facts(of: candidates))
        brake.note(changes.brake)
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

    /// Checks that the published schema allows the events.
    func expectContract(of records: [OutboxRecord]) {
        #expect(EventContract.violations(in: records) == [])
    }

    /// Reads the facts after inserting new requests, as the database does: the first candidate of a key wins.
    private mutating func facts(of candidates: [Candidate]) -> IntakeFacts {
        var batchSlots: [SlotKey: VerificationID] = [:]
        var batchRequests: [RequestKey: KnownRequest] = [:]
        for candidate in candidates {
            let own = KnownRequest(of: candidate)
            requests[candidate.key] = requests[candidate.key] ?? own
            batchRequests[candidate.key] = requests[candidate.key]
            for passed in candidate.possibleOutcomes {
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
