// SPDX-License-Identifier: Apache-2.0

import Formats
import TestSupport
import Verification

extension DecisionTables {
    /// Settles one claim, as after one provider call.
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

    /// Records results; a result whose claim was lost changes nothing.
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
        expectContract(of: changes.outbox)
        return changes
    }

    mutating func markDispatching(_ id: SendID) {
        sends[id]?.state = .dispatching
    }

    /// Takes over the sends that are due, and returns their claims and the events of the settled ones.
    mutating func sweep(
        capacity: Int = 100,
        repeatsUnknown: Bool = false
    ) -> (claims: [ClaimedSend], outbox: [OutboxRecord]) {
        let due = sends.values.filter { $0.leaseUntil < now }.map(DueSend.init).sorted {
            $0.reference.id < $1.reference.id
        }
        let swept = SweepDecision.decide(
            due,
            verifications,
            now: now,
            capacity: capacity,
            repeatsUnknown: repeatsUnknown,
            keys: keys
        )
        for claim in swept.claims {
            sends[claim.id]?.claim = claim
            sends[claim.id]?.state = .claimed
            sends[claim.id]?.leaseUntil = now + .seconds(30)
        }
        return (swept.claims, record(swept.results).outbox)
    }

    mutating func expire() -> [OutboxRecord] {
        let over = verifications.values.filter { verification in
            (verification.state == .live || verification.state == .locked)
                && verification.expiresAt <= now && !verification.sendOpen
        }
        let changes = SweepDecision.expire(over.sorted { $0.id < $1.id }, now: now, source: Self.source)
        keep(changes.verifications)
        expectContract(of: changes.outbox)
        return changes.outbox
    }

    private mutating func keep(_ changed: [StoredVerification]) {
        for verification in changed { verifications[verification.id] = verification }
    }
}

// MARK: - The verifier

extension DecisionTables {
    /// Counts a wrong guess as the database's function does.
    mutating func guessWrong(_ id: VerificationID) {
        guard var verification = verifications[id], verification.state == .live, verification.expiresAt > now else {
            return
        }
        verification.checksUsed += 1
        if verification.checksUsed >= verification.maxChecks { verification.state = .locked }
        verifications[id] = verification
    }

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
