// SPDX-License-Identifier: Apache-2.0

import Formats

/// The decision on one batch of requests, made from the facts and the rules.
///
/// Candidates are decided one by one in the order of their records. Each sees the changes of those before it, so the
/// result does not depend on how records are batched. The rules, in order:
///
/// 1. unreadable: a dead letter
/// 2. a record that was decided before: nothing
/// 3. tenant, shape, number (`Screener`)
/// 4. a known request id: the same answer, or a conflict
/// 5. time: too old to be sent
/// 6. test number, region, type of number, domain of a link, app verification (`Screener`)
/// 7. slot: locked, resend window, sends used up
/// 8. limits, which count only requests that pass all rules
/// 9. toll-fraud brake
/// 10. budgets
/// 11. send
struct IntakeDecision {
    let facts: IntakeFacts
    let policy: Policy
    let keys: CodeKeys
    let settings: WorkerSettings
    let source: EventSource
    var requests: [RequestKey: KnownRequest]
    var slots: [SlotKey: VerificationID]
    var verifications: [VerificationID: StoredVerification]
    var windows: [LimitKey: LimitWindow]
    let tenantUsage: [TenantLimit: Int]
    var brake: BrakeBoard
    var purse: BudgetPurse
    var inserted: Set<VerificationID> = []
    var updated: Set<VerificationID> = []
    var changes = IntakeChanges()

    /// Randomness for the nonces of seals.
    var randomness: any RandomNumberGenerator

    init(facts: IntakeFacts, rules: IntakeRules, randomness: any RandomNumberGenerator) {
        self.facts = facts
        policy = rules.policy
        keys = rules.keys
        settings = rules.settings
        source = EventSource(rules.settings.source, at: facts.now)
        brake = rules.brake
        purse = rules.purse
        self.randomness = randomness
        requests = facts.requests
        slots = facts.slots
        verifications = facts.verifications
        windows = facts.windows
        tenantUsage = facts.tenantUsage
    }

    consuming func changes(by candidates: [Candidate]) -> IntakeChanges {
        reserveCapacity(for: candidates.count)
        for candidate in candidates { decide(candidate.at(facts.now)) }
        changes.insertedVerifications = inserted.sorted().compactMap { verifications[$0] }
        changes.budgets.left = purse
        changes.updatedVerifications = updated.sorted().compactMap { verifications[$0] }
        return changes
    }

    /// Nearly all requests are new, each with a verification and two windows.
    private mutating func reserveCapacity(for count: Int) {
        verifications.reserveCapacity(facts.verifications.count + count)
        inserted.reserveCapacity(count)
        windows.reserveCapacity(facts.windows.count + 2 * count)
        changes.windows.reserveCapacity(2 * count)
    }

    private mutating func decide(_ candidate: Candidate) {
        if let known = requests[candidate.key], known.verificationID != candidate.verificationID {
            if known.hasSeen(candidate.place) { return }
            see(candidate, known)
            // The verification of a send no longer exists: decide the request like a new one.
            if known.status != nil || known.verificationID.map(exists) ?? true {
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

    private func exists(_ id: VerificationID) -> Bool { verifications[id] != nil || facts.unwritable.contains(id) }

    private mutating func decide(_ candidate: Candidate, _ request: VerificationRequest, _ screening: Screening) {
        if request.asked(before: facts.now) < facts.now - settings.maxRequestAge {
            expireUnsent(candidate, request, reason: .staleRequest, rule: "time.age")
            return
        }
        if let deadline = request.deadline, deadline <= facts.now {
            expireUnsent(candidate, request, reason: .deadline, rule: "time.deadline")
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
        // A request's row is kept for a day. A verification may live longer and still names the request that began it.
        if current.requestID == candidate.key.requestID {
            link(candidate, to: id)
            let original = current.reason
            publish(candidate, current, reason: .repeated, originalReason: original, rule: "request_id")
            return
        }
        // A test number has no resend windows and no maximum of sends, and a lock must not block the next test.
        let isFictional = passed.testNumber != nil
        switch current.state {
        case .approved, .expired, .cancelled:
            begin(candidate, request, passed)
        case .locked where isFictional:
            begin(candidate, request, passed)
        case .locked:
            let refusal = Refusal(.locked, rule: "slot.locked", retryAfter: current.expiresAt)
            refuse(candidate, refusal, of: current)
        case .live where current.isFictional != isFictional:
            begin(candidate, request, passed)
        case .live where current.sendOpen:
            let end = current.retryAfter(at: facts.now)
            let waiting = current.awaited(by: candidate.key.requestID)
            suppress(candidate, waiting, reason: .sendPending, retryAfter: end, rule: "slot.send_pending")
        case .live where facts.now < current.resendAfter:
            let end = current.resendAfter
            suppress(candidate, current, reason: .resendWindow, retryAfter: end, rule: "slot.resend_window")
        case .live where !isFictional && current.sendsUsed >= current.maxSends:
            let refusal = Refusal(.maxSends, rule: "slot.max_sends", retryAfter: current.expiresAt)
            refuse(candidate, refusal, of: current)
        case .live:
            resend(candidate, request, passed, current)
        }
    }
}

// Repeated requests: records with a request id that was decided before.
extension IntakeDecision {
    mutating func see(_ candidate: Candidate, _ known: KnownRequest) {
        var newest = known
        newest.see(candidate.place)
        requests[candidate.key] = newest
        changes.requests[candidate.key] = newest
    }

    /// Answers a repeated request as before.
    ///
    /// If nothing of its verification can be written, the events of the verification are the answer.
    mutating func repeated(_ candidate: Candidate, _ known: KnownRequest) {
        let description = DeliveryEvent.Description(candidate, keys: keys)
        if let refusal = candidate.refusalBeforeID {
            publishRefusal(candidate, refusal, describing: description)
            return
        }
        guard known.digest == candidate.digest else {
            publishRefusal(candidate, Refusal(.requestIDConflict, rule: "request_id"), describing: description)
            return
        }
        if let id = known.verificationID, let current = verifications[id] {
            // A request that waited for a send has that send's outcome.
            let isOver = known.reason == SuppressionReason.sendPending.rawValue && !current.sendOpen
            let original = isOver ? current.reason : known.reason ?? current.reason
            let rule = known.rule ?? "request_id"
            publish(candidate, current, status: known.status, reason: .repeated, originalReason: original, rule: rule)
        } else if let status = known.status {
            let event = DeliveryEvent(
                describing: description,
                status: status,
                reason: .repeated,
                originalReason: known.reason,
                rule: known.rule ?? "request_id",
                policyVersion: policy.version,
                occurredAt: facts.now
            )
            changes.outbox.append(event.record(of: candidate.record, source: source))
        }
    }
}
