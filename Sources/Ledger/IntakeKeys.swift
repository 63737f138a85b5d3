// SPDX-License-Identifier: Apache-2.0

import PostgresClient
package import Verification

/// The keys of a batch, each once, in the order in which rows are locked.
package struct IntakeKeys: Sendable {
    let slots: Set<SlotKey>
    package let persons: [LimitKey]

    /// Of addresses: those of persons are in their own rows.
    package let windows: [LimitKey]
    let requests: [Candidate]

    /// Candidates that are too old to be sent and whose ids' rows another transaction locks: nothing is locked for them.
    let unlockable: [Candidate]

    /// The verifications that the candidates may begin.
    private let fresh: Set<VerificationID>

    /// The limits of the tenants whose requests may be let through, and how many of those each tenant has.
    let tenantLimits: [TenantLimit]
    private let tenantCounts: [String: Int]

    /// The keys that candidates need at the time of a look at locks; without one, those that they may need.
    init(_ candidates: [Candidate], by rules: IntakeRules, besides locked: LockedKeys?) {
        self.init(candidates, holders: locked?.holders ?? [:]) { candidate in
            locked.map { rules.isTooLate(candidate, at: $0.now) } ?? false
        }
    }

    package init(_ candidates: [Candidate]) { self.init(candidates, holders: [:]) { _ in false } }

    /// `isTooLate` tells of a candidate that it is answered by its request id alone, and without that where it is held.
    private init(_ candidates: [Candidate], holders: [UInt128: Int64], isTooLate: (Candidate) -> Bool) {
        var slots = Set<SlotKey>(minimumCapacity: candidates.count)
        var requests = [RequestKey: Candidate](minimumCapacity: candidates.count)
        var unlockable: [RequestKey: Candidate] = [:]
        var windows = Set<LimitKey>(minimumCapacity: candidates.count)
        var limits: [String: [RateLimit]] = [:]
        var counts: [String: Int] = [:]
        for candidate in candidates {
            let isTooLate = isTooLate(candidate)
            if isTooLate, holders[candidate.key.digest.value] != nil {
                unlockable[candidate.key] = candidate
            } else if requests[candidate.key] == nil {
                requests[candidate.key] = candidate
            }
            for passed in isTooLate ? [] : candidate.possiblyPassed {
                slots.insert(passed.slot)
                guard passed.testNumber == nil else { continue }
                windows.formUnion(passed.limits.lazy.filter { $0.scope != .recipient })
                limits[passed.slot.tenant] = passed.tenant.limits.perTenant
                counts[passed.slot.tenant, default: 0] += 1
            }
        }
        self.slots = slots
        persons = Set(slots.lazy.map(\.person)).sorted()
        self.windows = windows.sorted()
        self.requests = requests.values.sorted { $0.key < $1.key }
        self.unlockable = Array(unlockable.values)
        fresh = Set(candidates.lazy.map(\.verificationID))
        tenantLimits = limits.keys.sorted().flatMap { tenant in
            (limits[tenant] ?? []).map { TenantLimit(tenant: tenant, limit: $0) }
        }
        tenantCounts = counts
    }

    /// Whether a tenant could come to its limit with this batch, so that it must be counted behind its gate.
    ///
    /// One that has come to a limit already is refused by what was read: whatever others add, nothing of it is let through.
    func mayBreakLimit(_ usage: [TenantLimit: Int]) -> Bool {
        let full = Set(tenantLimits.filter { usage[$0, default: 0] >= $0.limit.count }.map(\.tenant))
        return tenantLimits.contains { limit in
            !full.contains(limit.tenant)
                && usage[limit, default: 0] + tenantCounts[limit.tenant, default: 0] > limit.limit.count
        }
    }

    /// Requests that have no row yet, as they are remembered.
    package func newRequests(but known: [RequestKey: KnownRequest]) -> [RequestKey: KnownRequest] {
        var new = [RequestKey: KnownRequest](minimumCapacity: requests.count)
        for candidate in requests where known[candidate.key] == nil { new[candidate.key] = KnownRequest(of: candidate) }
        return new
    }

    /// Those of the verifications that no candidate of this batch begins.
    func before(_ ids: some Sequence<VerificationID>) -> Set<VerificationID> {
        Set(ids).subtracting(fresh)
    }

    var limitedTenants: [String] { Set(tenantLimits.map(\.tenant)).sorted() }
}

/// The database's clock, and the tenants' admissions as of then.
struct IntakeTime {
    let now: Timestamp
    let usage: [TenantLimit: Int]

    init(_ rows: Rows) throws {
        now = try rows.clock()
        var usage: [TenantLimit: Int] = [:]
        for row in rows {
            guard let tenant = try row.optionalText(1) else { continue }
            let limit = RateLimit(count: Int(try row.int32(2)), per: .milliseconds(try row.int64(3)))
            usage[TenantLimit(tenant: tenant, limit: limit)] = Int(clamping: try row.int64(4))
        }
        self.usage = usage
    }
}
