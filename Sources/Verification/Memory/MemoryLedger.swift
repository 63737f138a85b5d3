// SPDX-License-Identifier: Apache-2.0

package import Formats

/// A ledger in memory, with its own facts, for `policy simulate` and for tests.
///
/// The caller stores the request ids, since it knows their number and retention.
package struct MemoryLedger: Sendable {
    package private(set) var verifications: [VerificationID: StoredVerification] = [:]
    package private(set) var slots: [SlotKey: VerificationID] = [:]
    private var windows: [LimitKey: (window: LimitWindow, expiry: Timestamp)] = [:]
    private var tenants: [TenantLimit: AdmissionCount] = [:]

    package init() {}

    package var size: Int { slots.count + windows.count }

    /// Decides a batch and stores its changes, except those of `requests`.
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

    /// Settles sends, and returns the events.
    package mutating func settle(_ results: [SendResult], at now: Timestamp, source: String) -> [OutboxRecord] {
        let known = verifications(of: Set(results.map(\.send.verificationID)))
        let changes = OutcomeDecision.settle(results, verifications: known, now: now, source: source)
        keep(changes.verifications)
        return changes.outbox
    }

    package mutating func keep(_ changed: some Sequence<StoredVerification>) {
        for verification in changed { verifications[verification.id] = verification }
    }

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
            for passed in candidate.possibleOutcomes {
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

    /// The verifications that a decision may change; a decision copies all it is given, so it gets no more.
    private func verifications(of ids: Set<VerificationID>) -> [VerificationID: StoredVerification] {
        Dictionary(uniqueKeysWithValues: ids.compactMap { id in verifications[id].map { (id, $0) } })
    }
}

/// The admissions of a whole tenant within one sliding window, eight bytes each.
///
/// Admissions that have left the window are removed for good, so a clock that is set back does not count them again.
struct AdmissionCount {
    private var times: [Timestamp] = []
    private var first = 0

    mutating func count(at now: Timestamp, per: Duration) -> Int {
        let start = now - per
        while first < times.count, times[first] <= start { first += 1 }
        if first > 1024, first > times.count / 2 {
            times.removeFirst(first)
            first = 0
        }
        return times.count - first
    }

    mutating func admit(at now: Timestamp) {
        times.append(now)
    }
}
