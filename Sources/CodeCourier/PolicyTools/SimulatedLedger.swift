// SPDX-License-Identifier: Apache-2.0

import Verification

/// The ledger of a simulation: the decisions of the worker with facts that are kept in memory.
///
/// One record is decided at a time, at its own time, and its message counts as accepted at once by any provider that its
/// route leads to. Codes are never entered, so no verification is approved or locked. What time has ended is forgotten:
/// memory grows with the live slots, the windows that limits look back to, and the request ids of two days.
struct SimulatedLedger {
    private let rules: IntakeRules
    private var requests = RememberedRequests()
    private var slots: [SlotKey: StoredVerification] = [:]
    private var windows: [WindowKey: ExpiringWindow] = [:]
    private var tenants: [TenantLimit: AdmissionCount] = [:]
    private var horizon: Timestamp?
    private let smallestSizeToForget: Int
    private var sizeToForget: Int

    private struct ExpiringWindow {
        let window: LimitWindow
        let expiry: Timestamp
    }

    /// A key in a fraction of its memory: fingerprints are random, so half of one tells two apart.
    private struct WindowKey: Hashable {
        let scope: LimitKey.Scope
        let tenant: String
        let identity: UInt128

        init(_ key: LimitKey) {
            scope = key.scope
            tenant = key.tenant
            identity = key.fingerprint.prefix(16).reduce(0) { $0 << 8 | UInt128($1) }
        }
    }

    /// From `sizeToForget` slots and windows on, what is over is looked for.
    init(policy: Policy, keys: CodeKeys, maxRequestAge: Duration, sizeToForget: Int = 16_384) {
        self.sizeToForget = sizeToForget
        smallestSizeToForget = sizeToForget
        rules = IntakeRules(
            policy: policy,
            keys: keys,
            settings: .init(source: "/code-courier/simulation", maxRequestAge: maxRequestAge)
        )
    }

    /// The slots and windows that are held.
    var size: Int { slots.count + windows.count }

    /// Decides one record and keeps what follows from it.
    mutating func decide(_ candidate: Candidate, at now: Timestamp) -> SimulatedDecision {
        let candidate = candidate.at(now)
        advance(towards: now)
        if let digest = requests.digest(of: candidate.key) { return repeated(candidate, digest) }
        let changes = rules.decide([candidate], facts: facts(candidate, now))
        let send: Send? = changes.sends.first.flatMap { claim in
            candidate.passed.map { (claim, $0.disposition(on: claim.recipient.channel)) }
        }
        keep(changes, of: candidate, send, now)
        return decision(on: candidate, changes, send)
    }

    /// A new send, and what becomes of it.
    private typealias Send = (claim: ClaimedSend, disposition: SendDisposition)

    /// The same request id again changes nothing, whether its verification is still remembered or not.
    private func repeated(_ candidate: Candidate, _ digest: UUIDValue) -> SimulatedDecision {
        if let refusal = candidate.refusalBeforeID {
            return SimulatedDecision(.rejected, rule: refusal.rule, reason: refusal.reason.rawValue)
        }
        if digest == candidate.digest { return SimulatedDecision(.repeated, rule: "request_id") }
        let reason = RejectionReason.requestIDConflict.rawValue
        return SimulatedDecision(.rejected, rule: "request_id", reason: reason)
    }

    private mutating func facts(_ candidate: Candidate, _ now: Timestamp) -> IntakeFacts {
        let request = KnownRequest(of: candidate)
        guard let passed = candidate.passed else {
            return IntakeFacts(now: now, requests: [candidate.key: request], slots: [:], verifications: [:])
        }
        let verification = slots[passed.slot]
        var limits: [LimitKey: LimitWindow] = [:]
        for key in passed.limits { limits[key] = windows[WindowKey(key)]?.window }
        var usage: [TenantLimit: Int] = [:]
        for limit in passed.tenant.limits.perTenant {
            let key = TenantLimit(tenant: passed.slot.tenant, limit: limit)
            usage[key] = tenants[key, default: AdmissionCount()].count(at: now, per: limit.per)
        }
        return IntakeFacts(
            now: now,
            requests: [candidate.key: request],
            slots: [passed.slot: verification?.id ?? candidate.verificationID],
            verifications: verification.map { [$0.id: $0] } ?? [:],
            windows: limits,
            tenantUsage: usage
        )
    }

    private mutating func keep(_ changes: IntakeChanges, of candidate: Candidate, _ send: Send?, _ now: Timestamp) {
        requests.remember(candidate)
        for (key, entry) in changes.windows {
            windows[WindowKey(key)] = ExpiringWindow(window: entry.window, expiry: entry.expiry)
        }
        guard let passed = candidate.passed else { return }
        if changes.admissions[passed.slot.tenant] != nil {
            // Equal limits share one count.
            for limit in Set(passed.tenant.limits.perTenant) {
                tenants[TenantLimit(tenant: passed.slot.tenant, limit: limit), default: AdmissionCount()].admit(at: now)
            }
        }
        guard let verification = (changes.insertedVerifications + changes.updatedVerifications).first else { return }
        slots[passed.slot] = verification
        guard let send else { return }
        let settled = OutcomeDecision.settle(
            [SendResult(send: send.claim.reference, disposition: send.disposition, attempts: 1, attempt: nil)],
            verifications: [verification.id: verification],
            now: now,
            source: rules.settings.source
        )
        slots[passed.slot] = settled.verifications.first ?? verification
    }

    private func decision(on candidate: Candidate, _ changes: IntakeChanges, _ send: Send?) -> SimulatedDecision {
        if let send { return SimulatedDecision(send.disposition, isFictional: send.claim.isFictional) }
        guard let answer = changes.requests[candidate.key] else { return SimulatedDecision(.repeated) }
        if answer.verificationID != nil {
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

    /// Forgets what is over, now and then.
    ///
    /// The horizon moves by a minute a record at most, so that one record from a producer whose clock is far ahead does
    /// not end what others still live in.
    private mutating func advance(towards now: Timestamp) {
        let current = horizon ?? now
        let next = max(current, min(now, current + .seconds(60)))
        horizon = next
        requests.advance(to: next)
        guard size >= sizeToForget else { return }
        slots = slots.filter { $0.value.expiresAt > next }
        windows = windows.filter { $0.value.expiry > next }
        sizeToForget = max(smallestSizeToForget, 2 * size)
    }
}
