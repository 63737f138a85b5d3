// SPDX-License-Identifier: Apache-2.0

import Formats

// Rate limits, the toll-fraud brake and budgets: checked last, so that limits count only requests that every rule admits.
extension IntakeDecision {
    /// Counts a request in all its windows, or refuses it and counts it in none.
    ///
    /// The limits come before the brake, which cannot see the requests that they refuse, and the budgets last: a
    /// refused request costs nothing.
    mutating func admits(
        _ candidate: Candidate,
        _ request: VerificationRequest,
        _ passed: Screening.Passed,
        resendOf current: StoredVerification? = nil
    ) -> Bool {
        if passed.testNumber != nil { return true }
        let limits = passed.tenant.limits
        let refusal =
            refusal(request, passed, limits)
            ?? refusalByBrake(candidate, request, passed, isResend: current != nil)
            ?? refusalByBudget(candidate, request, passed)
        if let refusal {
            if let current {
                refuse(candidate, refusal, of: current)
            } else {
                refuse(candidate, refusal, describing: .init(request, keys: keys))
            }
            return false
        }
        for key in passed.limits {
            let own = limits[key.scope]
            var window = windows[key] ?? LimitWindow()
            window.admit(at: facts.now, limits: own)
            windows[key] = window
            changes.windows[key] = WindowChange(window, under: own, at: facts.now)
        }
        changes.admissions[request.tenant, default: 0] += 1
        return true
    }

    private mutating func refusal(
        _ request: VerificationRequest,
        _ passed: Screening.Passed,
        _ limits: LimitPolicy
    ) -> Refusal? {
        for key in passed.limits {
            let window = windows[key] ?? LimitWindow()
            guard let broken = window.firstBroken(of: limits[key.scope], at: facts.now) else { continue }
            if key.scope != .recipient { changes.fullWindows[key] = window }
            return refusal(key.scope.reason, by: "limits.\(key.scope.setting).\(broken)", request, passed)
        }
        for limit in limits.perTenant where isFull(limit, of: request.tenant) {
            return refusal(.quotaTenant, by: "limits.perTenant.\(limit)", request, passed)
        }
        return nil
    }

    private func isFull(_ limit: RateLimit, of tenant: String) -> Bool {
        let admitted = changes.admissions[tenant, default: 0]
        return tenantUsage[TenantLimit(tenant: tenant, limit: limit), default: 0] + admitted >= limit.count
    }

    /// A refusal until all limits admit a request again.
    ///
    /// A tenant's limit, of which only the count is known, surely admits one after all of its `per`.
    private func refusal(
        _ reason: RejectionReason,
        by rule: String,
        _ request: VerificationRequest,
        _ passed: Screening.Passed
    ) -> Refusal {
        let limits = passed.tenant.limits
        var end = facts.now
        for key in passed.limits {
            end = max(end, windows[key]?.opening(under: limits[key.scope], at: facts.now) ?? end)
        }
        for limit in limits.perTenant where isFull(limit, of: request.tenant) { end = max(end, facts.now + limit.per) }
        return Refusal(reason, rule: rule, region: passed.region, retryAfter: end)
    }
}

extension LimitPolicy {
    package subscript(scope: LimitKey.Scope) -> [RateLimit] {
        get {
            switch scope {
            case .recipient: perRecipient
            case .ip: perIP
            case .subject: perSubject
            case .device: perDevice
            }
        }
        set {
            switch scope {
            case .recipient: perRecipient = newValue
            case .ip: perIP = newValue
            case .subject: perSubject = newValue
            case .device: perDevice = newValue
            }
        }
    }
}

extension LimitKey.Scope {
    /// The key of the scope's limits in the policy.
    package var setting: String {
        switch self {
        case .recipient: "perRecipient"
        case .ip: "perIP"
        case .subject: "perSubject"
        case .device: "perDevice"
        }
    }

    fileprivate var reason: RejectionReason {
        switch self {
        case .recipient: .quotaRecipient
        case .ip: .quotaIP
        case .subject: .quotaSubject
        case .device: .quotaDevice
        }
    }
}

extension IntakeDecision {
    /// The refusal of a request by a block of the toll-fraud brake; nil if it may be sent.
    mutating func refusalByBrake(
        _ candidate: Candidate,
        _ request: VerificationRequest,
        _ passed: Screening.Passed,
        isResend: Bool
    ) -> Refusal? {
        guard let snapshot = brake[request.tenant],
            let subject = BrakeSubject(request, passed, isResend: isResend)
        else { return nil }
        let verdict = snapshot.verdict(on: subject, under: passed.tenant.brake, turns: brake.turns, at: facts.now)
        if let refusal = verdict.refusal {
            changes.brake.stopped.append(BrakeRefusal(tenant: request.tenant, key: refusal.key, at: facts.now))
            let rule = refusal.key.scope.rule
            return Refusal(.tollFraudSuspected, rule: rule, region: passed.region, retryAfter: refusal.until)
        }
        if let key = verdict.recorded {
            changes.brake.stopped.append(BrakeRefusal(tenant: request.tenant, key: key, at: facts.now))
            changes.brake.recorded.append(BrakeEffects.Recorded(request: candidate.key, key: key))
        }
        if let overruled = verdict.overruled {
            let turn = BrakeTurn(tenant: request.tenant, key: overruled.key)
            changes.brake.overruled.append(.init(turn: turn, region: subject.region, order: overruled.order))
        }
        for key in verdict.probes {
            let turn = BrakeTurn(tenant: request.tenant, key: key)
            brake.turns.take(turn, at: facts.now)
            changes.brake.probes.append(BrakeEffects.Probe(turn: turn, at: facts.now))
        }
        return nil
    }
}

extension BrakeScope {
    /// The name of the rule in events and log lines.
    package var rule: String {
        switch self {
        case .ip: "brake.ip"
        case .prefix: "brake.prefix"
        case .range: "brake.range"
        case .region: "brake.region"
        }
    }
}
