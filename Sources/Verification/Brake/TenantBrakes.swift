// SPDX-License-Identifier: Apache-2.0

package import Formats

/// The brakes of all tenants with their histories, fed by the fleet's reader.
package struct TenantBrakes {
    /// The maximum size of all brakes together: about 110 MB, whatever their keys.
    package static let maximumSize = 400_000

    /// The result of one judgement.
    package struct Judgement {
        package var changed: [TenantBlock] = []

        /// The regions with too few approvals but no more traffic than usual.
        package var low: [LowRegion] = []
    }

    package struct LowRegion: Sendable, Equatable {
        package let tenant: String
        package let region: String
        package let shortfall: Shortfall
    }

    private let maximumSize: Int
    private var policies: [String: BrakePolicy] = [:]

    /// The tenants without a brake whose verifications are counted for their adaptive routes.
    private var routed: Set<String> = []
    private var brakes: [String: Brake]
    private var histories: [String: ConversionHistory] = [:]
    private var asleep: Set<String> = []

    /// True until what is usual has been learned by the policies in force: nothing may be judged without it.
    package private(set) var needsHistory = true

    /// The verifications that have reached the last age and are not stored yet.
    package private(set) var counts = ConversionCounts()

    /// The time from which verifications have been read.
    package private(set) var readFrom: Timestamp

    /// Makes brakes that continue with stored blocks, and read verifications from a time on.
    package init(
        _ blocks: [TenantBlock] = [],
        from start: Timestamp = Timestamp(microseconds: .min),
        maximumSize: Int = Self.maximumSize
    ) {
        self.maximumSize = maximumSize
        readFrom = start
        brakes = Dictionary(grouping: blocks, by: \.tenant).mapValues { blocks in
            Brake(rules: BrakeRules(), blocks: blocks.map(\.block))
        }
        asleep = Set(blocks.filter(\.isAsleep).map(\.tenant))
    }

    package var size: Int { brakes.values.reduce(0) { $0 + $1.size } }

    /// Applies changed rules, and returns the blocks that end because their tenant no longer has a brake.
    ///
    /// A tenant without a brake stores no verifications.
    @discardableResult
    package mutating func follow(_ policy: Policy, at now: Timestamp) -> [TenantBlock] {
        let before = policies
        policies = policy.tenants.mapValues(\.brake).filter { !$0.value.isOff }
        if policies != before { needsHistory = true }
        routed = Set(policy.tenants.filter { policies[$0.key] == nil && $0.value.routes.hasAdaptive }.keys)
        var lifted: [TenantBlock] = []
        for tenant in brakes.keys where policies[tenant] == nil {
            guard var brake = brakes.removeValue(forKey: tenant) else { continue }
            for (key, block) in brake.blocks where block.isInForce {
                brake.lift(key, at: now)
                if let block = brake.blocks[key] { lifted.append(tenantBlock(block, tenant)) }
            }
            brake.removeAll()
        }
        for (tenant, policy) in policies {
            if brakes[tenant] == nil { brakes[tenant] = Brake(rules: policy.rules) }
            brakes[tenant]?.rules = policy.rules
            brakes[tenant]?.readFrom = readFrom
            brakes[tenant]?.isOff = { policy.mode(of: $0, in: Region($1) ?? .unknown) == .off }
        }
        return lifted
    }

    /// Frees the verifications, which form reference cycles with their scopes.
    package mutating func removeAll() {
        for tenant in Array(brakes.keys) { brakes[tenant]?.removeAll() }
    }

    package mutating func learn(_ counts: ConversionCounts, at now: Timestamp) {
        histories = [:]
        for (tenant, counts) in counts.byTenant {
            histories[tenant] = ConversionHistory(counts, at: now) { policies[tenant]?.judges($0) ?? true }
        }
        needsHistory = false
    }

    /// Adds verifications at an age; at the last one, those that began at `start` or later are counted.
    package mutating func read(_ samples: [String: [ConversionSample]], age: Int?, countedFrom start: Timestamp) {
        for (tenant, samples) in samples where isRead(tenant) {
            let history = history(of: tenant)
            brakes[tenant]?.read(samples, age: age, by: history)
            if age == ApprovalCurve.ages.indices.last { count(samples, of: tenant, from: start) }
        }
        shrink()
    }

    /// Takes the verifications from a time up to where those that are known begin, at the last age.
    package mutating func readOlder(
        _ samples: [String: [ConversionSample]],
        from start: Timestamp,
        countedFrom counted: Timestamp
    ) {
        for (tenant, samples) in samples where isRead(tenant) {
            let history = history(of: tenant)
            brakes[tenant]?.readOlder(samples, by: history)
            count(samples, of: tenant, from: counted)
        }
        readFrom = start
        for tenant in brakes.keys { brakes[tenant]?.readFrom = start }
        shrink()
    }

    /// True if memory has no room for verifications of before a time.
    package func hasForgotten(before time: Timestamp) -> Bool {
        !brakes.isEmpty && brakes.values.allSatisfy { $0.beginning > time }
    }

    private func isRead(_ tenant: String) -> Bool { brakes[tenant] != nil || routed.contains(tenant) }

    private mutating func count(_ samples: [ConversionSample], of tenant: String, from start: Timestamp) {
        for sample in samples where sample.id.version7Time.map({ $0 >= start }) ?? false {
            if !isExplained(sample, of: tenant) { counts.add(sample, of: tenant) }
        }
    }

    /// Frees memory of the tenant that uses most, so that an attack on it does not shorten other tenants' windows.
    private mutating func shrink() {
        var excess = size - maximumSize
        while excess > 0, let largest = brakes.mapValues(\.size).max(by: { $0.value < $1.value }) {
            brakes[largest.key]?.shrink(to: max(0, largest.value - excess))
            excess = size - maximumSize
        }
    }

    package mutating func removeCounts() {
        counts = ConversionCounts()
    }

    /// Records the time at which a block stopped a request.
    package mutating func noteRefusal(by turn: BrakeTurn, at time: Timestamp) {
        brakes[turn.tenant]?.noteRefusal(by: turn.key, at: time)
    }

    /// Applies the stored state of the blocks, and returns those that an operator has lifted: they are missing from it.
    ///
    /// Scopes in `ignored` are skipped, since their newest state is not stored yet.
    package mutating func follow(
        _ stored: [BrakeTurn: Timestamp?],
        except ignored: Set<BrakeTurn>,
        at now: Timestamp
    ) -> [TenantBlock] {
        var lifted: [TenantBlock] = []
        for (tenant, brake) in brakes {
            for (key, block) in brake.blocks where block.isInForce {
                let turn = BrakeTurn(tenant: tenant, key: key)
                if let refusedAt = stored[turn] {
                    if let refusedAt { noteRefusal(by: turn, at: refusedAt) }
                } else if !ignored.contains(turn) {
                    brakes[tenant]?.lift(key, at: now)
                    if let block = brakes[tenant]?.blocks[key] { lifted.append(tenantBlock(block, tenant)) }
                }
            }
        }
        return lifted
    }

    /// Judges each tenant's scopes; when a tenant's approvals become too few, or enough again, all its blocks change.
    package mutating func judge(at now: Timestamp) -> Judgement {
        var judgement = Judgement()
        for (tenant, policy) in policies {
            let history = histories[tenant] ?? ConversionHistory()
            guard let changed = brakes[tenant]?.judge(at: now, by: history), let brake = brakes[tenant] else {
                continue
            }
            let wasAsleep = asleep.contains(tenant)
            let isAsleep = history.isAsleep(below: policy.minimumApprovals)
            if isAsleep { asleep.insert(tenant) } else { asleep.remove(tenant) }
            var all = changed
            if isAsleep != wasAsleep {
                let known = Set(changed.map(\.key))
                all += brake.blocks.values.filter { $0.isInForce && !known.contains($0.key) }
            }
            judgement.changed += all.map { tenantBlock($0, tenant) }
            judgement.low += brake.low.map { LowRegion(tenant: tenant, region: $0.key, shortfall: $0.value) }
        }
        return judgement
    }

    private func tenantBlock(_ block: BrakeBlock, _ tenant: String) -> TenantBlock {
        TenantBlock(tenant: tenant, block: block, isAsleep: asleep.contains(tenant))
    }

    /// The approvals that are usual for a tenant.
    package func history(of tenant: String) -> ConversionHistory { histories[tenant] ?? ConversionHistory() }

    /// True if a block of the tenant explains the verification.
    package func isExplained(_ sample: ConversionSample, of tenant: String) -> Bool {
        brakes[tenant]?.isExplained(sample) ?? false
    }

    /// The number of a tenant's approvals in the last day.
    package func approvalsOfDay(of tenant: String) -> Int { histories[tenant]?.approvalsOfDay ?? 0 }
}

extension BrakePolicy {
    /// True if the policy judges no scope of any tenant.
    var isOff: Bool {
        let modes = BrakeScope.allCases.map { scopes[$0] ?? mode } + Array(regions.values)
        return modes.allSatisfy { $0 == .off }
    }
}
