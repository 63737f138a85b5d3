// SPDX-License-Identifier: Apache-2.0

package import Formats

// Decisions that create no verification.
extension IntakeDecision {
    mutating func answer(
        _ candidate: Candidate,
        status: DeliveryStatus?,
        reason: String,
        rule: String,
        of id: VerificationID? = nil
    ) {
        guard var known = requests[candidate.key] else { return }
        known.verificationID = id
        known.status = status
        known.reason = reason
        known.rule = rule
        requests[candidate.key] = known
        changes.requests[candidate.key] = known
    }

    mutating func refuse(
        _ candidate: Candidate,
        _ refusal: Refusal,
        describing description: DeliveryEvent.Description
    ) {
        answer(candidate, status: .rejected, reason: refusal.reason.rawValue, rule: refusal.rule)
        publishRefusal(candidate, refusal, describing: description)
    }

    /// Refuses a request by the state of its slot's verification, in whose stream the event is.
    mutating func refuse(_ candidate: Candidate, _ refusal: Refusal, of current: StoredVerification) {
        let reason = refusal.reason
        answer(candidate, status: .rejected, reason: reason.rawValue, rule: refusal.rule, of: current.id)
        publish(
            candidate,
            current,
            status: .rejected,
            reason: .rejected(reason),
            retryAfter: refusal.retryAfter,
            rule: refusal.rule
        )
    }

    mutating func publishRefusal(
        _ candidate: Candidate,
        _ refusal: Refusal,
        describing description: DeliveryEvent.Description
    ) {
        let event = DeliveryEvent(
            describing: description.in(refusal.region),
            status: .rejected,
            reason: .rejected(refusal.reason),
            retryAfter: refusal.retryAfter,
            rule: refusal.rule,
            field: refusal.field,
            policyVersion: policy.version,
            occurredAt: facts.now
        )
        changes.outbox.append(event.record(of: candidate.record, source: source))
    }

    mutating func expireUnsent(
        _ candidate: Candidate,
        _ request: VerificationRequest,
        reason: ExpiryReason,
        rule: String
    ) {
        answer(candidate, status: .expiredUnsent, reason: reason.rawValue, rule: rule)
        let event = DeliveryEvent(
            describing: .init(request, keys: keys),
            status: .expiredUnsent,
            reason: .expiredUnsent(reason),
            rule: rule,
            policyVersion: policy.version,
            occurredAt: facts.now
        )
        changes.outbox.append(event.record(of: candidate.record, source: source))
    }
}

/// A `rejected` decision: its reason, the rule that refused, and the invalid field if there is one.
package struct Refusal: Sendable, Equatable {
    package let reason: RejectionReason
    package let rule: String
    package let field: String?

    /// The recipient's region for the event; nil if unknown.
    package let region: Region?

    /// The time from which the rule does not refuse the next request; nil for a rule that time does not change.
    let retryAfter: Timestamp?

    /// True for a refusal by tenant, shape or number: rules that are checked before the request id and the time.
    var comesBeforeID: Bool {
        switch reason {
        case .unknownTenant, .invalidRequest, .invalidPhoneNumber: true
        default: false
        }
    }

    package init(
        _ reason: RejectionReason,
        rule: String,
        field: String? = nil,
        region: Region? = nil,
        retryAfter: Timestamp? = nil
    ) {
        self.reason = reason
        self.retryAfter = retryAfter
        self.rule = rule
        self.field = field
        self.region = region
    }
}
