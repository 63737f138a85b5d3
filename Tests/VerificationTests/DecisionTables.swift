// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Verification

/// The ledger's tables as values: what a database would know between two decisions, with a clock that a test sets.
///
/// It is as naive as can be: whole rows in dictionaries, every write at once. Limits are off, so that slots, windows and
/// identity are all that decides.
struct DecisionTables {
    static let source = "/test"

    let policy: Policy
    let numbers: any NumberDirectory
    var keys: CodeKeys
    var now = Timestamp.test

    private(set) var requests: [RequestKey: KnownRequest] = [:]
    private(set) var slots: [SlotKey: VerificationID] = [:]
    var verifications: [VerificationID: StoredVerification] = [:]
    private(set) var sends: [SendID: HeldSend] = [:]

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
        policy = .test { tenant in
            tenant.limits = LimitPolicy(perRecipient: [], perIP: [], perTenant: [])
            change(&tenant)
        }
        self.numbers = numbers
        self.keys = keys
    }

    func candidate(_ record: InboundRecord) -> Candidate {
        Screener(policy: policy, keys: keys, numbers: numbers).candidate(for: record, now: now)
    }

    @discardableResult
    mutating func intake(_ records: InboundRecord...) -> IntakeChanges {
        intake(records.map(candidate))
    }

    /// Decides a batch and writes what it changes.
    mutating func intake(_ candidates: [Candidate]) -> IntakeChanges {
        let changes = IntakeDecision.decide(
            candidates,
            facts: facts(of: candidates),
            policy: policy,
            settings: .init(source: Self.source, maxRequestAge: .seconds(300)),
            keys: keys
        )
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

    /// New rows are written before the facts are read, as the database does it: the first candidate of a key wins.
    private mutating func facts(of candidates: [Candidate]) -> IntakeFacts {
        var batchSlots: [SlotKey: VerificationID] = [:]
        var batchRequests: [RequestKey: KnownRequest] = [:]
        for candidate in candidates {
            let own = KnownRequest(
                source: candidate.record.source,
                offset: candidate.record.offset,
                digest: candidate.digest,
                verificationID: candidate.verificationID
            )
            requests[candidate.key] = requests[candidate.key] ?? own
            batchRequests[candidate.key] = requests[candidate.key]
            guard case .request(_, .passed(let passed)) = candidate.content else { continue }
            slots[passed.slot] = slots[passed.slot] ?? candidate.verificationID
            batchSlots[passed.slot] = slots[passed.slot]
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

// MARK: - Outcomes

extension DecisionTables {
    /// Settles one claim, as if one call to a provider had been made for it.
    @discardableResult
    mutating func settle(_ claim: ClaimedSend, _ disposition: SendDisposition) -> OutcomeDecision.Changes {
        let attempt = SendResult.Attempt(
            provider: "main",
            messageID: disposition == .sent ? "SM1" : nil,
            segments: 1,
            encoding: "GSM-7",
            errorCode: disposition == .sent ? nil : "30001"
        )
        let attempts = claim.attempts + 1
        return record([
            SendResult(send: claim.reference, disposition: disposition, attempts: attempts, attempt: attempt)
        ])
    }

    /// Writes results; one whose claim has been lost changes nothing.
    mutating func record(_ results: [SendResult]) -> OutcomeDecision.Changes {
        let taken = results.filter { sends[$0.send.id]?.claim.reference.fence == $0.send.fence }
        for result in taken {
            if case .retry(let delay) = result.disposition {
                sends[result.send.id]?.state = .pending
                sends[result.send.id]?.attempts = result.attempts
                sends[result.send.id]?.leaseUntil = now + delay
            } else {
                sends[result.send.id] = nil
            }
        }
        let changes = OutcomeDecision.settle(taken, verifications: verifications, now: now, source: Self.source)
        keep(changes.verifications)
        return changes
    }

    /// Marks a claim as about to leave.
    mutating func markDispatching(_ id: SendID) {
        sends[id]?.state = .dispatching
    }

    /// Takes over what is due: the claims, and the events of what is settled.
    mutating func sweep(capacity: Int = 100) -> (claims: [ClaimedSend], outbox: [OutboxRecord]) {
        let due = sends.values.filter { $0.leaseUntil < now }.map(DueSend.init).sorted { $0.reference.id < $1.reference.id }
        let swept = SweepDecision.decide(due, verifications, now: now, capacity: capacity, keys: keys)
        for claim in swept.claims {
            sends[claim.id]?.claim = claim
            sends[claim.id]?.state = .claimed
            sends[claim.id]?.leaseUntil = now + .seconds(30)
        }
        return (swept.claims, record(swept.results).outbox)
    }

    /// Ends what ran out, and returns the events.
    mutating func expire() -> [OutboxRecord] {
        let over = verifications.values.filter { verification in
            (verification.state == .live || verification.state == .locked)
                && verification.expiresAt <= now && !verification.sendOpen
        }
        let changes = SweepDecision.expire(over.sorted { $0.id < $1.id }, now: now, source: Self.source)
        keep(changes.verifications)
        return changes.outbox
    }

    private mutating func keep(_ changed: [StoredVerification]) {
        for verification in changed { verifications[verification.id] = verification }
    }
}

// MARK: - The verifier

extension DecisionTables {
    /// A wrong guess, counted as the database's function counts it.
    mutating func guessWrong(_ id: VerificationID) {
        guard var verification = verifications[id], verification.state == .live, verification.expiresAt > now else {
            return
        }
        verification.checksUsed += 1
        if verification.checksUsed >= verification.maxChecks { verification.state = .locked }
        verifications[id] = verification
    }

    /// The right guess.
    mutating func approve(_ id: VerificationID) {
        guard let verification = verifications[id], verification.state == .live, verification.expiresAt > now else {
            return
        }
        verifications[id]?.state = .approved
    }
}

extension DueSend {
    init(_ send: DecisionTables.HeldSend) {
        self.init(
            reference: send.claim.reference,
            generation: send.claim.generation,
            state: send.state,
            deadline: send.claim.deadline,
            attempts: send.attempts,
            rendering: send.claim.rendering
        )
    }
}
