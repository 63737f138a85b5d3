// SPDX-License-Identifier: Apache-2.0

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
