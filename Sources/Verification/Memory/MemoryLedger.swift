// SPDX-License-Identifier: Apache-2.0

/// The ledger in memory: decides by facts that it keeps itself, for `policy simulate` and for tests.
///
/// Request ids are remembered by its owner, who knows how many there are and for how long.
package struct MemoryLedger: Sendable {
    package private(set) var verifications: [VerificationID: StoredVerification] = [:]
    package private(set) var slots: [SlotKey: VerificationID] = [:]
    private var windows: [LimitKey: (window: LimitWindow, expiry: Timestamp)] = [:]
    private var tenants: [TenantLimit: AdmissionCount] = [:]

    package init() {}

    /// The slots and windows that are held.
    package var size: Int { slots.count + windows.count }

    /// Decides a batch and keeps its changes, save those of `requests`.
    package mutating func decide(
        _ candidates: [Candidate],
        by rules: IntakeRules,
        requests: [RequestKey: KnownRequest],
        at now: Timestamp
    ) -> IntakeChanges {
        let facts = facts(candidates, requests, now)
        let changes = rules.decide(candidates, facts: facts)
        keep(changes.insertedVerifications + changes.updatedVerifications)
        slots.merge(changes.slots) { $1 }
        for (key, change) in changes.windows { windows[key] = (change.window, change.expiry) }
        for limit in facts.tenantUsage.keys {
            for _ in 0..<changes.admissions[limit.tenant, default: 0] {
                tenants[limit, default: AdmissionCount()].admit(at: now)
            }
        }
        return changes
    }

    /// Settles sends, and returns the events that tell it.
    package mutating func settle(_ results: [SendResult], at now: Timestamp, source: String) -> [OutboxRecord] {
        let known = verifications(of: Set(results.map(\.send.verificationID)))
        let changes = OutcomeDecision.settle(results, verifications: known, now: now, source: source)
        keep(changes.verifications)
        return changes.outbox
    }

    /// Keeps verifications as they are now.
    package mutating func keep(_ changed: some Sequence<StoredVerification>) {
        for verification in changed { verifications[verification.id] = verification }
    }

    /// Forgets what is over at a time.
    package mutating func forget(before time: Timestamp) {
        verifications = verifications.filter { $0.value.expiresAt > time }
        slots = slots.filter { verifications[$0.value] != nil }
        windows = windows.filter { $0.value.expiry > time }
    }

    private mutating func facts(
        _ candidates: [Candidate],
        _ requests: [RequestKey: KnownRequest],
        _ now: Timestamp
    ) -> IntakeFacts {
        var current: [SlotKey: VerificationID] = [:]
        var limits: [LimitKey: LimitWindow] = [:]
        var usage: [TenantLimit: Int] = [:]
        for candidate in candidates {
            for passed in candidate.possiblyPassed {
                current[passed.slot] = slots[passed.slot]
                for key in passed.limits { limits[key] = windows[key]?.window }
                for limit in passed.tenant.limits.perTenant {
                    let key = TenantLimit(tenant: passed.slot.tenant, limit: limit)
                    usage[key] = usage[key] ?? tenants[key, default: AdmissionCount()].count(at: now, per: limit.per)
                }
            }
        }
        let ids = Set(current.values).union(candidates.compactMap { requests[$0.key]?.verificationID })
        return IntakeFacts(
            now: now,
            requests: requests,
            slots: current,
            verifications: verifications(of: ids),
            windows: limits,
            tenantUsage: usage
        )
    }

    /// Only those that a decision may change: it copies what it is given.
    private func verifications(of ids: Set<VerificationID>) -> [VerificationID: StoredVerification] {
        Dictionary(uniqueKeysWithValues: ids.compactMap { id in verifications[id].map { (id, $0) } })
    }
}
