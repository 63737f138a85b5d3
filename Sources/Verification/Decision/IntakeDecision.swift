// SPDX-License-Identifier: Apache-2.0

/// The decision on a batch of requests on its way: candidates by the facts and the rules.
///
/// Candidates are decided one after the other in the order of their records, each seeing what the ones before it
/// changed, so a batch comes to the same as its records one by one. The rules, in order:
///
/// 1. readable, else a dead letter
/// 2. the same record again: nothing
/// 3. tenant, shape, number (`Screener`)
/// 4. the same request id: the same answer, or a conflict
/// 5. time: too old to be sent
/// 6. test number, region, type of number, domain of a link, app verification (`Screener`)
/// 7. slot: locked, resend window, sends used up
/// 8. limits, which count only what gets this far
/// 9. send
struct IntakeDecision {
    let facts: IntakeFacts
    let policy: Policy
    let keys: CodeKeys
    let settings: IntakeRules.Settings
    var requests: [RequestKey: KnownRequest]
    var slots: [SlotKey: VerificationID]
    var verifications: [VerificationID: StoredVerification]
    var windows: [LimitKey: LimitWindow]
    let tenantUsage: [TenantLimit: Int]
    var inserted: Set<VerificationID> = []
    var updated: Set<VerificationID> = []
    var changes = IntakeChanges()

    /// For the nonces of seals.
    var randomness: any RandomNumberGenerator

    init(facts: IntakeFacts, rules: IntakeRules, randomness: any RandomNumberGenerator) {
        self.facts = facts
        policy = rules.policy
        keys = rules.keys
        settings = rules.settings
        self.randomness = randomness
        requests = facts.requests
        slots = facts.slots
        verifications = facts.verifications
        windows = facts.windows
        tenantUsage = facts.tenantUsage
    }

    /// The changes that a batch comes to.
    consuming func changes(by candidates: [Candidate]) -> IntakeChanges {
        makeRoom(for: candidates.count)
        for candidate in candidates { decide(candidate.at(facts.now)) }
        changes.insertedVerifications = inserted.sorted().compactMap { verifications[$0] }
        changes.updatedVerifications = updated.sorted().compactMap { verifications[$0] }
        return changes
    }

    /// For requests that are nearly all new ones, each with a verification and two windows.
    private mutating func makeRoom(for count: Int) {
        verifications.reserveCapacity(facts.verifications.count + count)
        inserted.reserveCapacity(count)
        windows.reserveCapacity(facts.windows.count + 2 * count)
        changes.windows.reserveCapacity(2 * count)
    }

    private mutating func decide(_ candidate: Candidate) {
        if let known = requests[candidate.key], known.verificationID != candidate.verificationID {
            if known.hasSeen(candidate.place) { return }
            see(candidate, known)
            // A row whose verification is gone tells nothing any more: the request is decided like a new one.
            if known.verificationID.map({ verifications[$0] != nil }) ?? true {
                repeated(candidate, known)
                return
            }
        }
        switch candidate.content {
        case .deadLetter(let reason):
            answer(candidate, status: nil, reason: reason.rawValue, rule: "readable")
            changes.outbox.append(.deadLetter(candidate.record, reason: reason, at: facts.now))
        case .invalid(let invalid, let refusal):
            refuse(candidate, refusal, describing: .init(invalid))
        case .request(let request, .refused(let refusal)) where refusal.comesBeforeID:
            refuse(candidate, refusal, describing: .init(request, keys: keys))
        case .request(let request, let screening):
            decide(candidate, request, screening)
        }
    }

    private mutating func decide(_ candidate: Candidate, _ request: VerificationRequest, _ screening: Screening) {
        if request.asked(before: facts.now) < facts.now - settings.maxRequestAge {
            expireUnsent(candidate, request, reason: "stale_request", rule: "time.age")
            return
        }
        if let deadline = request.deadline, deadline <= facts.now {
            expireUnsent(candidate, request, reason: "deadline", rule: "time.deadline")
            return
        }
        switch screening {
        case .refused(let refusal): refuse(candidate, refusal, describing: .init(request, keys: keys))
        case .passed(let passed): decide(candidate, request, passed)
        case .testNumber: decide(candidate, request, screening.at(facts.now))
        }
    }

    private mutating func decide(_ candidate: Candidate, _ request: VerificationRequest, _ passed: Screening.Passed) {
        guard let id = slots[passed.slot], let current = verifications[id], current.expiresAt > facts.now else {
            begin(candidate, request, passed)
            return
        }
        // The row of an id is kept for a day, the verification that it began for as long as it lives.
        if current.requestID == candidate.key.requestID {
            belong(candidate, to: id)
            publish(candidate, current, reason: EventSummary.repeatReason, rule: "request_id")
            return
        }
        // A test number knows neither windows nor a last send, and a lock of its own making must not keep a test out.
        let isFictional = passed.testNumber != nil
        switch current.state {
        case .approved, .expired, .cancelled:
            begin(candidate, request, passed)
        case .locked where isFictional:
            begin(candidate, request, passed)
        case .locked:
            refuse(candidate, Refusal(.locked, rule: "slot.locked"), describing: .init(request, keys: keys))
        case .live where current.isFictional != isFictional:
            begin(candidate, request, passed)
        case .live where current.sendOpen || facts.now < current.resendAfter:
            suppress(candidate, current, reason: "resend_window", rule: "slot.resend_window")
        case .live where !isFictional && current.sendsUsed >= current.maxSends:
            refuse(candidate, Refusal(.maxSends, rule: "slot.max_sends"), describing: .init(request, keys: keys))
        case .live:
            resend(candidate, request, passed, current)
        }
    }
}
