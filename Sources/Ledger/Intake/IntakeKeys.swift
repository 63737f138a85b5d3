// SPDX-License-Identifier: Apache-2.0

import Formats
import PostgresClient
package import Verification

/// The keys of a batch, each once, in lock order.
package struct IntakeKeys: Sendable {
    let slots: Set<SlotKey>
    package let persons: [LimitKey]

    /// The windows of all scopes but recipients: a person's window is in the person's own row.
    package let windows: [LimitKey]
    let requests: [Candidate]

    /// Candidates that are too late to be sent and whose request row another transaction locks: they need no lock.
    let unlockable: [Candidate]

    /// The verifications that the candidates may begin.
    private let fresh: Set<VerificationID>

    /// The limits of the tenants whose requests may pass, and the number of those requests by tenant.
    let tenantLimits: [TenantLimit]
    private let tenantCounts: [String: Int]

    /// Collects the keys that candidates need by a check of locks; without a check, all keys that they may need.
    init(_ candidates: [Candidate], by rules: IntakeRules, besides locked: LockedKeys?) {
        self.init(candidates, holders: locked?.holders ?? [:]) { candidate in
            locked.map { rules.isTooLate(candidate, at: $0.now) } ?? false
        }
    }

    /// Collects the keys of candidates.
    ///
    /// A candidate for which `isTooLate` is true needs only its request row, and no row while another transaction locks
    /// that.
    package init(
        _ candidates: [Candidate],
        holders: [UInt128: Int64] = [:],
        isTooLate: (Candidate) -> Bool = { _ in false }
    ) {
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
            for passed in isTooLate ? UpToTwo() : candidate.possibleOutcomes {
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
        self.requests = requests.values.sorted { $0.key.digest < $1.key.digest }
        self.unlockable = Array(unlockable.values)
        fresh = Set(candidates.lazy.map(\.verificationID))
        tenantLimits = limits.keys.sorted().flatMap { tenant in
            (limits[tenant] ?? []).map { TenantLimit(tenant: tenant, limit: $0) }
        }
        tenantCounts = counts
    }

    /// True when this batch could exceed a tenant's limit, so that its admissions must be counted behind the gate.
    ///
    /// A tenant that has reached a limit already needs no gate: all of its requests are refused, whatever other workers
    /// admit.
    func mayBreakLimit(_ usage: [TenantLimit: Int]) -> Bool {
        let full = Set(tenantLimits.filter { usage[$0, default: 0] >= $0.limit.count }.map(\.tenant))
        return tenantLimits.contains { limit in
            !full.contains(limit.tenant)
                && usage[limit, default: 0] + tenantCounts[limit.tenant, default: 0] > limit.limit.count
        }
    }

    /// The requests that have no row yet, as they are to be stored.
    package func newRequests(but known: [RequestKey: KnownRequest]) -> [RequestKey: KnownRequest] {
        var new = [RequestKey: KnownRequest](minimumCapacity: requests.count)
        for candidate in requests where known[candidate.key] == nil { new[candidate.key] = KnownRequest(of: candidate) }
        return new
    }

    /// The given verifications except those that a candidate of this batch begins.
    func before(_ ids: some Sequence<VerificationID>) -> Set<VerificationID> {
        Set(ids).subtracting(fresh)
    }

    var limitedTenants: [String] { Set(tenantLimits.map(\.tenant)).sorted() }
}

/// The database's time, and the tenants' admissions at that time.
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
