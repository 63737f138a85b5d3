// SPDX-License-Identifier: Apache-2.0

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
            changes.outbox.append(event.record(of: candidate.record, source: settings.source))
        }
    }
}
