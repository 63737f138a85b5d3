// SPDX-License-Identifier: Apache-2.0

import Formats
import Verification

/// Decides past records by a policy, with a ledger in memory.
///
/// Each record is decided alone, at its own time, and any provider of its route accepts its message at once. Codes are
/// never entered, so no verification is approved or locked. Expired entries are removed: memory grows with the live
/// slots, the windows of the limits, and the request ids of two days.
struct PolicySimulation {
    private let rules: IntakeRules
    private var ledger = MemoryLedger()
    private var requests = RememberedRequests()
    private var horizon: Timestamp?
    private let smallestSizeToForget: Int
    private var sizeToForget: Int

    /// Creates a simulation that looks for expired entries from `sizeToForget` slots and windows on.
    init(policy: Policy, keys: CodeKeys, maxRequestAge: Duration, sizeToForget: Int = 16_384) {
        self.sizeToForget = sizeToForget
        smallestSizeToForget = sizeToForget
        var settings = WorkerSettings()
        settings.source = "/code-courier/simulation"
        settings.maxRequestAge = maxRequestAge
        rules = IntakeRules(policy: policy, keys: keys, settings: settings)
    }

    /// The current number of slots and windows.
    var size: Int { ledger.size }

    /// Decides one record and stores the consequences.
    mutating func decide(_ candidate: Candidate, at now: Timestamp) -> SimulatedDecision {
        let candidate = candidate.at(now)
        advance(towards: now)
        if let digest = requests.digest(of: candidate.key) { return repeated(candidate, digest) }
        let known = [candidate.key: KnownRequest(of: candidate)]
        let changes = ledger.decide([candidate], by: rules, requests: known, at: now)
        let send: Send? = changes.sends.first.flatMap { claim in
            candidate.passed.map { (claim, $0.disposition(on: claim.recipient.channel)) }
        }
        requests.remember(candidate)
        if let send {
            let end = SendResult(send: send.claim.reference, disposition: send.disposition, attempts: 1, attempt: nil)
            _ = ledger.settle([end], at: now, source: rules.settings.source)
        }
        return decision(on: candidate, changes, send)
    }

    /// A new send and its outcome.
    private typealias Send = (claim: ClaimedSend, disposition: SendDisposition)

    /// The decision on a repeated request id, which changes nothing, even if its verification has expired.
    private func repeated(_ candidate: Candidate, _ digest: UUIDValue) -> SimulatedDecision {
        if let refusal = candidate.refusalBeforeID {
            return SimulatedDecision(.rejected, rule: refusal.rule, reason: refusal.reason.rawValue)
        }
        if digest == candidate.digest { return SimulatedDecision(.repeated, rule: "request_id") }
        let reason = RejectionReason.requestIDConflict.rawValue
        return SimulatedDecision(.rejected, rule: "request_id", reason: reason)
    }

    private func decision(on candidate: Candidate, _ changes: IntakeChanges, _ send: Send?) -> SimulatedDecision {
        if let send { return SimulatedDecision(send.disposition, isFictional: send.claim.isFictional) }
        guard let answer = changes.requests[candidate.key] else { return SimulatedDecision(.repeated) }
        if answer.status == nil, answer.verificationID != nil {
            return SimulatedDecision(.suppressed, rule: "slot.resend_window", reason: "resend_window")
        }
        let kind: SimulatedDecision.Kind =
            switch answer.status {
            case .rejected: .rejected
            case .expiredUnsent: .expiredUnsent
            default: .deadLetter
            }
        return SimulatedDecision(kind, rule: answer.rule ?? "", reason: answer.reason ?? "")
    }

    /// Removes expired entries from time to time.
    ///
    /// The horizon advances by at most a minute a record, so that one record from a producer whose clock is far ahead
    /// does not expire entries that others still need.
    private mutating func advance(towards now: Timestamp) {
        let current = horizon ?? now
        let next = max(current, min(now, current + .seconds(60)))
        horizon = next
        requests.advance(to: next)
        guard size >= sizeToForget else { return }
        ledger.forget(before: next)
        sizeToForget = max(smallestSizeToForget, 2 * size)
    }
}
