// SPDX-License-Identifier: Apache-2.0

/// Decides a batch of requests: a pure function of the candidates, the facts, the policy and the keys.
///
/// Candidates are decided one after the other in the order of their records, each seeing what the ones before it
/// changed, so a batch comes to the same as its records one by one. The rules, in order:
///
/// 1. readable, else a dead letter
/// 2. the same record again: nothing
/// 3. the same request id: the same answer, or a conflict
/// 4. time: too old to be sent
/// 5. tenant, shape, number, region (`Screener`)
/// 6. slot: locked, resend window, sends used up
/// 7. limits, budget and brake, which count only what gets this far
/// 8. send
package struct IntakeDecision {
    private let facts: IntakeFacts
    private let policy: Policy
    private let settings: Settings
    private let keys: CodeKeys
    private var requests: [RequestKey: KnownRequest]
    private var slots: [SlotKey: VerificationID]
    private var verifications: [VerificationID: StoredVerification]
    private var inserted: Set<VerificationID> = []
    private var updated: Set<VerificationID> = []
    private var changes = IntakeChanges()

    /// What the decision takes from the worker's configuration.
    package struct Settings: Sendable {
        /// `ce_source` of the events.
        package let source: String

        /// A request older than this is never sent.
        package let maxRequestAge: Duration

        package init(source: String, maxRequestAge: Duration) {
            self.source = source
            self.maxRequestAge = maxRequestAge
        }
    }

    private init(facts: IntakeFacts, policy: Policy, settings: Settings, keys: CodeKeys) {
        self.facts = facts
        self.policy = policy
        self.settings = settings
        self.keys = keys
        requests = facts.requests
        slots = facts.slots
        verifications = facts.verifications
    }

    /// The changes that a batch comes to.
    package static func decide(
        _ candidates: [Candidate],
        facts: IntakeFacts,
        policy: Policy,
        settings: Settings,
        keys: CodeKeys
    ) -> IntakeChanges {
        var decision = IntakeDecision(facts: facts, policy: policy, settings: settings, keys: keys)
        for candidate in candidates {
            decision.decide(candidate)
        }
        return decision.finish()
    }

    private mutating func decide(_ candidate: Candidate) {
        if let known = requests[candidate.key], known.verificationID != candidate.verificationID {
            repeated(candidate, known)
            return
        }
        switch candidate.content {
        case .deadLetter(let reason):
            answer(candidate, status: nil, reason: reason.rawValue, rule: "readable")
            changes.outbox.append(.deadLetter(candidate.record, reason: reason, at: facts.now))
        case .invalid(let invalid):
            let rule = "shape.\(invalid.field)"
            refuse(candidate, Refusal(invalid.reason, rule: rule, field: invalid.field), describing: .init(invalid))
        case .request(let request, let screening):
            decide(candidate, request, screening)
        }
    }

    private mutating func decide(_ candidate: Candidate, _ request: VerificationRequest, _ screening: Screening) {
        if request.requestedAt < facts.now - settings.maxRequestAge {
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
        }
    }

    private mutating func decide(_ candidate: Candidate, _ request: VerificationRequest, _ passed: Screening.Passed) {
        guard let id = slots[passed.slot], var current = verifications[id], current.expiresAt > facts.now else {
            begin(candidate, request, passed)
            return
        }
        switch current.state {
        case .approved, .expired, .cancelled:
            begin(candidate, request, passed)
        case .locked:
            refuse(candidate, Refusal(.locked, rule: "slot.locked"), describing: .init(request, keys: keys))
        case .live where current.sendOpen || facts.now < current.resendAfter:
            suppress(candidate, request, &current, reason: "resend_window", rule: "slot.resend_window")
        case .live where current.sendsUsed >= current.maxSends:
            refuse(candidate, Refusal(.maxSends, rule: "slot.max_sends"), describing: .init(request, keys: keys))
        case .live:
            resend(candidate, request, passed, current)
        }
    }
}

// MARK: - The same request again

extension IntakeDecision {
    private mutating func repeated(_ candidate: Candidate, _ known: KnownRequest) {
        let source = candidate.record.source
        if known.source == source, candidate.record.offset <= known.offset { return }
        var newest = known
        newest.source = source
        newest.offset = candidate.record.offset
        requests[candidate.key] = newest
        changes.requests[candidate.key] = newest

        let description = DeliveryEvent.Description(candidate, keys: keys)
        guard known.digest == candidate.digest else {
            publishRefusal(candidate, Refusal(.requestIDConflict, rule: "request_id"), describing: description)
            return
        }
        if let id = known.verificationID, var current = verifications[id] {
            publish(candidate.key.requestID, &current, reason: "duplicate_request", rule: "request_id")
        } else if let status = known.status {
            let event = DeliveryEvent(
                describing: description,
                status: status,
                reason: "duplicate_request",
                rule: known.rule ?? "request_id",
                policyVersion: policy.version,
                occurredAt: facts.now
            )
            changes.outbox.append(event.record(of: candidate.record, source: settings.source))
        }
    }
}

// MARK: - Refusals

extension IntakeDecision {
    private mutating func answer(_ candidate: Candidate, status: DeliveryStatus?, reason: String, rule: String) {
        guard var known = requests[candidate.key] else { return }
        known.verificationID = nil
        known.status = status
        known.reason = reason
        known.rule = rule
        requests[candidate.key] = known
        changes.requests[candidate.key] = known
    }

    private mutating func refuse(
        _ candidate: Candidate,
        _ refusal: Refusal,
        describing description: DeliveryEvent.Description
    ) {
        answer(candidate, status: .rejected, reason: refusal.reason.rawValue, rule: refusal.rule)
        publishRefusal(candidate, refusal, describing: description)
    }

    private mutating func publishRefusal(
        _ candidate: Candidate,
        _ refusal: Refusal,
        describing description: DeliveryEvent.Description
    ) {
        let event = DeliveryEvent(
            describing: description.in(refusal.region),
            status: .rejected,
            reason: refusal.reason.rawValue,
            rule: refusal.rule,
            field: refusal.field,
            policyVersion: policy.version,
            occurredAt: facts.now
        )
        changes.outbox.append(event.record(of: candidate.record, source: settings.source))
    }

    private mutating func expireUnsent(
        _ candidate: Candidate,
        _ request: VerificationRequest,
        reason: String,
        rule: String
    ) {
        answer(candidate, status: .expiredUnsent, reason: reason, rule: rule)
        let event = DeliveryEvent(
            describing: .init(request, keys: keys),
            status: .expiredUnsent,
            reason: reason,
            rule: rule,
            policyVersion: policy.version,
            occurredAt: facts.now
        )
        changes.outbox.append(event.record(of: candidate.record, source: settings.source))
    }
}

// MARK: - Verifications

extension IntakeDecision {
    private mutating func begin(_ candidate: Candidate, _ request: VerificationRequest, _ passed: Screening.Passed) {
        let id = candidate.verificationID
        let code = newCode(id, generation: 1, length: passed.tenant.code.length)
        guard
            let sealed = RecipientSeal.seal(request.recipient.canonical, for: id, key: keys.seal.active)
        else { preconditionFailure("AES-GCM seals any text with a key of 32 bytes") }
        let verification = StoredVerification(
            id: id,
            requestID: request.requestID,
            tenant: request.tenant,
            purpose: request.purpose,
            channel: request.channel,
            subject: request.subject,
            fingerprint: passed.slot.fingerprint,
            region: passed.region,
            masked: request.recipient.masked,
            sealed: sealed,
            sealKey: keys.seal.activeID,
            codeKey: keys.code.activeID,
            hashKey: keys.hash.activeID,
            generation: 1,
            codeHash: hash(code, id, request),
            codeLength: Int16(passed.tenant.code.length),
            state: .live,
            status: nil,
            checksUsed: 0,
            maxChecks: Int16(passed.tenant.code.maxChecks),
            sendsUsed: 0,
            maxSends: Int16(passed.tenant.resend.maxSends),
            sendOpen: true,
            sequence: 0,
            resendAfter: facts.now,
            expiresAt: facts.now + passed.tenant.code.validity,
            policyVersion: policy.version
        )
        inserted.insert(id)
        if slots[passed.slot] != id {
            slots[passed.slot] = id
            changes.slots[passed.slot] = id
        }
        send(candidate, request, passed, verification, code, validity: passed.tenant.code.validity)
    }

    private mutating func resend(
        _ candidate: Candidate,
        _ request: VerificationRequest,
        _ passed: Screening.Passed,
        _ current: StoredVerification
    ) {
        var verification = current
        belong(candidate, to: verification.id)
        if verification.expiresAt - facts.now >= passed.tenant.resend.sameCodeWhileLeft,
            let key = keys.code[verification.codeKey]
        {
            let code = VerificationCode(
                verification: verification.id,
                generation: verification.generation,
                length: Int(verification.codeLength),
                key: key
            )
            send(candidate, request, passed, verification, code, validity: nil)
            return
        }
        verification.generation += 1
        verification.codeKey = keys.code.activeID
        verification.hashKey = keys.hash.activeID
        verification.codeLength = Int16(passed.tenant.code.length)
        verification.checksUsed = 0
        let code = newCode(verification.id, generation: verification.generation, length: passed.tenant.code.length)
        verification.codeHash = hash(code, verification.id, request)
        verification.expiresAt = facts.now + passed.tenant.code.validity
        send(candidate, request, passed, verification, code, validity: passed.tenant.code.validity)
    }

    private mutating func send(
        _ candidate: Candidate,
        _ request: VerificationRequest,
        _ passed: Screening.Passed,
        _ current: StoredVerification,
        _ code: VerificationCode,
        validity: Duration?
    ) {
        var verification = current
        let number = verification.sendsUsed + 1
        let window = passed.tenant.resend.window(afterSend: Int(number))
        verification.sendsUsed = number
        verification.sendOpen = true
        verification.resendAfter = facts.now + window
        verification.policyVersion = policy.version
        keep(verification)
        let latest = request.requestedAt + settings.maxRequestAge
        changes.sends.append(
            ClaimedSend(
                reference: SendReference(
                    id: candidate.sendID,
                    verificationID: verification.id,
                    fence: 1,
                    number: number,
                    requestID: request.requestID,
                    resendWindow: window,
                    validity: validity,
                    trace: request.trace
                ),
                tenant: request.tenant,
                purpose: request.purpose,
                region: passed.region,
                recipient: request.recipient,
                code: code,
                rendering: Rendering(request, tenant: passed.tenant),
                deadline: [request.deadline, latest, verification.expiresAt].compactMap(\.self).min() ?? latest,
                validityLeft: verification.expiresAt - facts.now,
                generation: verification.generation,
                attempts: 0
            )
        )
    }

    private mutating func suppress(
        _ candidate: Candidate,
        _ request: VerificationRequest,
        _ current: inout StoredVerification,
        reason: String,
        rule: String
    ) {
        belong(candidate, to: current.id)
        publish(request.requestID, &current, status: .suppressed, reason: reason, rule: rule)
    }

    /// Publishes an event about a verification: its current status again, unless another is given.
    private mutating func publish(
        _ requestID: String,
        _ current: inout StoredVerification,
        status: DeliveryStatus? = nil,
        reason: String,
        rule: String
    ) {
        current.sequence += 1
        keep(current)
        let event = DeliveryEvent(
            of: current,
            requestID: requestID,
            status: status ?? current.status ?? .suppressed,
            reason: reason,
            rule: rule,
            policyVersion: policy.version,
            occurredAt: facts.now
        )
        changes.outbox.append(event.record(source: settings.source))
    }

    private mutating func belong(_ candidate: Candidate, to id: VerificationID) {
        guard var known = requests[candidate.key], known.verificationID != id else { return }
        known.verificationID = id
        requests[candidate.key] = known
        changes.requests[candidate.key] = known
    }

    private mutating func keep(_ verification: StoredVerification) {
        verifications[verification.id] = verification
        if !inserted.contains(verification.id) { updated.insert(verification.id) }
    }

    private func newCode(_ id: VerificationID, generation: Int32, length: Int) -> VerificationCode {
        VerificationCode(verification: id, generation: generation, length: length, key: keys.code.active)
    }

    private func hash(_ code: VerificationCode, _ id: VerificationID, _ request: VerificationRequest) -> [UInt8] {
        code.hash(
            verification: id,
            tenant: request.tenant,
            purpose: request.purpose.rawValue,
            key: keys.hash.active
        )
    }

    private consuming func finish() -> IntakeChanges {
        changes.insertedVerifications = inserted.sorted().compactMap { verifications[$0] }
        changes.updatedVerifications = updated.sorted().compactMap { verifications[$0] }
        return changes
    }
}
