// SPDX-License-Identifier: Apache-2.0

package import Formats

/// The toll-fraud brake of one tenant: turns readings of verifications into blocks of scopes.
///
/// Narrow scopes are judged first. The verifications that caused a trip count neither for wider scopes nor for the same
/// scope again.
package struct Brake {
    /// The time for which a verification counts as evidence.
    package static let window = Duration.seconds(3600)

    /// The time in which an attack adds more than an outage that is over: its backlog has requests of five minutes, so
    /// that they come at most twice as fast.
    private static let burst = Duration.seconds(300)

    /// The maximum number of a tenant's blocks; beyond it only regions trip.
    package static let maximumBlocks = 20_000

    /// The weight of a region's usual rate in the estimate of its present rate, as a number of verifications.
    private static let weightOfUsual = 40.0

    /// The rules for future blocks; existing blocks keep their ends.
    package var rules: BrakeRules

    /// True for a scope that the policy does not judge in a region; its verifications stay evidence for wider scopes.
    package var isOff: @Sendable (BrakeScope, String) -> Bool = { _, _ in false }

    private var evidence: [BrakeKey: Evidence] = [:]
    private var rows: [UUIDValue: Evidence.Row] = [:]

    /// The values of `rows` in the order of their beginnings.
    private var order = RowQueue()

    /// The members of `order` that have just begun.
    private var recent = RowQueue()
    private var touched: Set<BrakeKey> = []

    /// The time before which verifications are no longer stored.
    package private(set) var beginning = Timestamp(microseconds: .min)

    /// The time from which verifications have been read; earlier ones follow.
    package var readFrom = Timestamp(microseconds: .min)

    /// By region, while one scope is judged.
    private var suspects: [BrakeKey: Suspects] = [:]

    /// The verdicts of half-open scopes within the window: true if the scope was opened.
    private var verdicts: ArraySlice<(at: Timestamp, isOpen: Bool)> = []

    /// The scopes that are blocked or half open, or were within a day.
    package private(set) var blocks: [BrakeKey: BrakeBlock] = [:]

    /// The regions with too few approvals but no more traffic than usual, as of the last judgement: an outage, not an
    /// attack.
    package private(set) var low: [String: Shortfall] = [:]

    /// Makes a brake that continues with stored blocks.
    package init(rules: BrakeRules, blocks: some Sequence<BrakeBlock> = []) {
        self.rules = rules
        for block in blocks { self.blocks[block.key] = block }
    }

    /// The number of verifications in the window.
    package var verifications: Int { rows.count }

    /// The memory in use: the verifications, and three for each key.
    package var size: Int { rows.count + 3 * evidence.count }

    /// Removes the oldest verifications until the size is within the limit, which shortens the window.
    package mutating func shrink(to size: Int) {
        while self.size > size, let row = order.first {
            beginning = max(beginning, row.beganAt)
            forgetFirst()
        }
    }

    /// Removes every verification; blocks stay.
    package mutating func removeAll() {
        while order.first != nil { forgetFirst() }
        recent.removeAll()
    }

    /// True if a block explains the verification: it then counts as part of the attack, not as evidence about people.
    package func isExplained(_ sample: ConversionSample) -> Bool {
        if let row = rows[sample.id] { return row.explainedBy != nil }
        guard !blocks.isEmpty, let beganAt = sample.id.version7Time else { return false }
        return sample.keys(where: isOff).contains { blocks[$0]?.explains(beganAt) == true }
    }

    /// Adds verifications in their state at one of the ages; `age` is nil before the first one.
    package mutating func read(_ samples: [ConversionSample], age: Int?, by baseline: some ConversionBaseline) {
        for sample in samples { read(sample, age: age, isOldest: false, by: baseline) }
    }

    /// Takes a slice of verifications at the last age that began before all that are known.
    package mutating func readOlder(_ samples: [ConversionSample], by baseline: some ConversionBaseline) {
        for sample in samples.sorted(by: { $0.id > $1.id }) {
            read(sample, age: ApprovalCurve.ages.indices.last, isOldest: true, by: baseline)
        }
    }

    private mutating func read(
        _ sample: ConversionSample,
        age: Int?,
        isOldest: Bool,
        by baseline: some ConversionBaseline
    ) {
        guard let row = rows[sample.id] ?? begin(sample, isOldest: isOldest), !row.isUnsent else { return }
        switch sample.outcome {
        case .unsent:
            row.isUnsent = true
            row.leave()
        case .waiting:
            break
        case .fraud:
            set(row, weight: 1, isApproved: false)
        case .open, .approved:
            let part = age.map { baseline.curve(region: sample.region).parts[$0] } ?? 0
            set(row, weight: part, isApproved: sample.outcome == .approved)
        }
    }

    private mutating func begin(_ sample: ConversionSample, isOldest: Bool) -> Evidence.Row? {
        guard let beganAt = sample.id.version7Time, beganAt >= beginning else { return nil }
        var scopes: [Evidence] = []
        for key in sample.keys(where: isOff) {
            if let known = evidence[key] {
                scopes.append(known)
            } else {
                let new = Evidence(key, region: sample.region)
                evidence[key] = new
                scopes.append(new)
            }
        }
        for scope in scopes where scope.key.scope == .range || scope.key.scope == .prefix {
            scopes[0].narrow.insert(scope.key)
            if scope.key.scope == .prefix { scope.range = sample.range.map { BrakeKey(.range, $0) } }
        }
        let row = Evidence.Row(
            sample.id,
            beganAt: beganAt,
            isConfirmed: sample.isConfirmed,
            scopes: scopes,
            isOldest: isOldest
        )
        rows[sample.id] = row
        if isOldest {
            order.prepend(row)
        } else {
            order.append(row)
            recent.append(row)
        }
        if !blocks.isEmpty { explain(row) }
        return row
    }

    /// Excludes a verification from the evidence of its blocked scopes, and counts it as a probe of half-open ones.
    ///
    /// Also excludes one that began before the end of a block: an earlier reader excluded it while the block was in
    /// force.
    private mutating func explain(_ row: Evidence.Row) {
        for scope in row.scopes where blocks[scope.key]?.explains(row.beganAt) == true {
            row.explain(by: scope.key.scope)
            // Confirmed people are never blocked, so they are no probes.
            if !row.isConfirmed { blocks[scope.key]?.count(probe: row.beganAt) }
        }
    }

    private mutating func set(_ row: Evidence.Row, weight: Double, isApproved: Bool) {
        let isNew = isApproved && !row.isApproved
        guard row.set(weight: weight, isApproved: isApproved) else { return }
        for scope in row.scopes {
            touched.insert(scope.key)
            if isNew, !row.isConfirmed, !blocks.isEmpty { blocks[scope.key]?.count(approvalOf: row.beganAt) }
        }
    }

    /// Records the time at which a worker refused a request because of a block.
    package mutating func noteRefusal(by key: BrakeKey, at time: Timestamp) {
        blocks[key]?.noteRefusal(at: time)
    }

    /// Ends a block that an operator has lifted.
    package mutating func lift(_ key: BrakeKey, at now: Timestamp) {
        blocks[key]?.lift(at: now)
    }

    /// Judges the scopes with new evidence and makes the due transitions of blocks; returns the changed blocks.
    package mutating func judge(at now: Timestamp, by baseline: some ConversionBaseline) -> [BrakeBlock] {
        forget(at: now)
        low.removeAll(keepingCapacity: true)
        var changed = advance(to: now)
        for scope in BrakeScope.allCases {
            // Trips of the narrower scope have changed what ranges and prefixes can explain.
            suspects.removeAll(keepingCapacity: true)
            for key in touched where key.scope == scope && blocks[key]?.isInForce != true {
                guard let found = evidence[key], let shortfall = shortfall(of: found, at: now, by: baseline) else {
                    continue
                }
                guard exceeds(shortfall, scope), !found.isOff(by: isOff), hasRoom(for: key) else { continue }
                trip(found, shortfall, at: now)
                changed.insert(key)
            }
        }
        touched.removeAll(keepingCapacity: true)
        return changed.compactMap { blocks[$0] }.sorted { ($0.key.scope, $0.key.value) < ($1.key.scope, $1.key.value) }
    }

    private func hasRoom(for key: BrakeKey) -> Bool {
        blocks.count < Self.maximumBlocks || key.scope == .region || blocks[key] != nil
    }

    private mutating func advance(to now: Timestamp) -> Set<BrakeKey> {
        var changed: Set<BrakeKey> = []
        if blocks.values.contains(where: { $0.isForgotten(at: now) }) {
            blocks = blocks.filter { !$0.value.isForgotten(at: now) }
        }
        while let verdict = verdicts.first, verdict.at < now - Self.window { verdicts.removeFirst() }
        for (key, before) in blocks where blocks[key]?.advance(to: now, rules: rules) == true {
            changed.insert(key)
            guard before.state == .halfOpen, let after = blocks[key]?.state, after != .halfOpen else { continue }
            verdicts.append((now, after == .ended))
        }
        return changed
    }

    /// The probes a minute for a tenant: fewer while nearly all of them fail.
    package var probesPerMinute: Int {
        let opened = verdicts.count { $0.isOpen }
        return BrakeSnapshot.probesPerMinute(opened: opened, failed: verdicts.count - opened)
    }

    private mutating func trip(_ found: Evidence, _ shortfall: Shortfall, at now: Timestamp) {
        if blocks[found.key] == nil {
            blocks[found.key] = BrakeBlock(found.key, region: found.region, shortfall: shortfall, rules: rules, at: now)
        } else {
            blocks[found.key]?.trip(shortfall, rules: rules, at: now)
        }
        removeFromSuspects(found)
        for row in found.rows { row.explain(by: found.key.scope) }
        found.rows.removeAll()
    }

    /// Takes what a trip is about to explain out of its region's suspects, which are not looked for again: in an attack
    /// on thousands of prefixes each trip would look at all of them.
    private mutating func removeFromSuspects(_ found: Evidence) {
        let region = BrakeKey(region: found.region)
        guard var known = suspects[region] else { return }
        var parts: Set<BrakeKey> = []
        if known.keys.contains(found.key) || found.range.map(known.keys.contains) ?? false {
            // A prefix of a suspected range counts in it.
            parts = [found.key]
        } else if found.key.scope == .range {
            parts = known.keys.filter { evidence[$0]?.range == found.key }
        }
        for part in parts.compactMap({ evidence[$0] }) {
            known.weight -= part.weight
            known.approved -= part.approved
        }
        known.keys.subtract(parts)
        suspects[region] = known
    }

    private func exceeds(_ shortfall: Shortfall, _ scope: BrakeScope) -> Bool {
        shortfall.exceeds(scope.threshold, sensitivity: rules.sensitivity)
    }

    /// The missing approvals of a scope; nil if its region's traffic excludes an attack.
    private mutating func shortfall(
        of found: Evidence,
        at now: Timestamp,
        by baseline: some ConversionBaseline
    ) -> Shortfall? {
        switch found.key.scope {
        case .ip:
            return Shortfall(expected: 0.5 * found.weight, observed: found.approved)
        case .prefix, .range:
            let usual = baseline.rate(region: found.region, isConfirmed: false)
            let rate = min(usual.value, rateOfOthers(than: found, usual: usual, at: now, by: baseline).value)
            return Shortfall(expected: rate * found.weight, observed: found.approved)
        case .region:
            let isSurplus = isSurplus(found, of: 3, at: now, by: baseline)
            let confirmed = baseline.rate(region: found.region, isConfirmed: true).value * found.confirmedWeight
            let others = baseline.rate(region: found.region, isConfirmed: false).value
            let observed = found.confirmedApproved + found.approved
            let whole = Shortfall(expected: confirmed + others * found.weight, observed: observed)
            if !isSurplus, whole.exceeds(BrakeScope.low, sensitivity: 1) { low[found.region] = whole }
            guard exceeds(whole, .region) else { return whole }
            guard isSurplus else { return nil }
            let suspects = suspects(in: found, by: baseline)
            return Shortfall(
                expected: confirmed + others * (found.weight - suspects.weight),
                observed: observed - suspects.approved
            )
        }
    }

    /// The rate of the region's other unconfirmed people in the window: if approvals are low everywhere, it is an
    /// outage, and no scope trips.
    ///
    /// An attack on several ranges or prefixes at once would lower the rate that each is compared with. So if the
    /// region has more traffic than usual, these suspects are left out.
    private mutating func rateOfOthers(
        than found: Evidence,
        usual: ApprovalRate,
        at now: Timestamp,
        by baseline: some ConversionBaseline
    ) -> ApprovalRate {
        guard let region = evidence[BrakeKey(region: found.region)] else { return usual }
        var (weight, approved) = (region.weight - found.weight, region.approved - found.approved)
        if isSurplus(region, of: 1.5, at: now, by: baseline) {
            let suspects = suspects(in: region, by: baseline)
            weight -= suspects.weight
            approved -= suspects.approved
            if suspects.keys.contains(found.key) || found.range.map(suspects.keys.contains) ?? false {
                weight += found.weight
                approved += found.approved
            }
        }
        return ApprovalRate(
            approved: max(0, Double(approved)),
            of: max(0, weight),
            parent: usual,
            weight: Self.weightOfUsual
        )
    }

    /// The ranges and prefixes that are about to explain what their region lacks.
    ///
    /// Of many, none is an explanation, unless all others approve as usual: in an outage nobody does.
    private mutating func suspects(in region: Evidence, by baseline: some ConversionBaseline) -> Suspects {
        if let known = suspects[region.key] { return known }
        let rate = baseline.rate(region: region.region, isConfirmed: false).value
        let narrow = region.narrow.compactMap { evidence[$0] }.filter { $0.isSuspect(at: rate) }
        var found = Suspects()
        for scope in [BrakeScope.range, .prefix] where !isOff(scope, region.region) {
            let new = narrow.filter { $0.key.scope == scope && !($0.range.map(found.keys.contains) ?? false) }
            let weight = new.reduce(found.weight) { $0 + $1.weight }
            let approved = new.reduce(found.approved) { $0 + $1.approved }
            let others = rate * (region.weight - weight)
            let isExplained =
                others >= BrakeScope.region.threshold.minimum
                && Double(region.approved - approved) >= Suspects.leastRate * others
            if new.count > Suspects.few, !isExplained { continue }
            (found.weight, found.approved) = (weight, approved)
            found.keys.formUnion(new.map(\.key))
        }
        suspects[region.key] = found
        return found
    }

    /// An attack adds traffic and an outage does not.
    ///
    /// A window that memory has shortened, or that is not read in full, is compared with as much of a usual hour.
    private func isSurplus(
        _ region: Evidence,
        of usual: Double,
        at now: Timestamp,
        by baseline: some ConversionBaseline
    ) -> Bool {
        let hour = usual * baseline.usualVolume(region: region.region, at: now)
        let part = min(1, (now - max(beginning, readFrom)) / Self.window)
        return Double(region.verifications) > part * hour + 30
            || Double(region.recent) > min(part, Self.burst / Self.window) * hour + 30
    }

    private mutating func forget(at now: Timestamp) {
        beginning = max(beginning, now - Self.window)
        while let row = order.first, row.beganAt < beginning { forgetFirst() }
        while let row = recent.first, row.beganAt < now - Self.burst {
            recent.removeFirst()
            row.becomeOlder()
        }
    }

    private mutating func forgetFirst() {
        guard let row = order.first else { return }
        order.removeFirst()
        if recent.first === row { recent.removeFirst() }
        rows[row.id] = nil
        row.leave()
        for scope in row.scopes {
            if scope.rows.first === row { scope.rows.removeFirst() }
            // A younger verification may have started new evidence for the scope after a trip.
            guard scope.rows.isEmpty, evidence[scope.key] === scope else { continue }
            evidence[scope.key] = nil
            touched.remove(scope.key)
            evidence[BrakeKey(region: scope.region)]?.narrow.remove(scope.key)
            row.scopes[0].narrow.remove(scope.key)
        }
    }
}
