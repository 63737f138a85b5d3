// SPDX-License-Identifier: Apache-2.0

// Rate limits: checked last, so that they count only requests that every other rule admits.
extension IntakeDecision {
    /// Counts a request in all its windows, or refuses it and counts it in none.
    mutating func admits(_ candidate: Candidate, _ request: VerificationRequest, _ passed: Screening.Passed) -> Bool {
        if passed.testNumber != nil { return true }
        let limits = passed.tenant.limits
        if let refusal = refusal(request, passed, limits) {
            refuse(candidate, refusal, describing: .init(request, keys: keys))
            return false
        }
        for key in passed.limits {
            var window = windows[key] ?? LimitWindow()
            window.admit(at: facts.now, limits: limits[key.scope])
            windows[key] = window
            changes.windows[key] = WindowChange(window, under: limits[key.scope], at: facts.now)
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
            switch key.scope {
            case .recipient:
                return Refusal(.quotaRecipient, rule: "limits.perRecipient.\(broken)", region: passed.region)
            case .ip:
                changes.fullWindows[key] = window
                return Refusal(.quotaIP, rule: "limits.perIP.\(broken)", region: passed.region)
            }
        }
        let admitted = changes.admissions[request.tenant, default: 0]
        for limit in limits.perTenant
        where tenantUsage[TenantLimit(tenant: request.tenant, limit: limit), default: 0] + admitted >= limit.count {
            return Refusal(.quotaTenant, rule: "limits.perTenant.\(limit)", region: passed.region)
        }
        return nil
    }
}

extension LimitPolicy {
    subscript(scope: LimitKey.Scope) -> [RateLimit] {
        switch scope {
        case .recipient: perRecipient
        case .ip: perIP
        }
    }
}
