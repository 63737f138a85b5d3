// SPDX-License-Identifier: Apache-2.0

package import Formats

/// The blocked and half-open scopes of one tenant, and its operators' orders.
package struct BrakeSnapshot: Sendable, Equatable {
    private struct Block: Sendable, Equatable {
        let state: BrakeBlock.State
        let changesAt: Timestamp

        /// True while the tenant has too few approvals for a verdict: the block then only records.
        let isAsleep: Bool
    }

    private struct Place: Sendable, Hashable {
        let scope: BrakeOverride.Scope
        let key: Int64
    }

    private struct Order: Sendable, Equatable {
        let action: BrakeOverride.Action
        let until: Timestamp
    }

    private let blocks: [BrakeKey: Block]
    private let orders: [Place: Order]

    /// True if nothing has been judged for longer than `patience`: nobody would end a half-open scope.
    fileprivate var isReaderSilent = false

    private struct ProbeVerdict: Sendable, Equatable {
        let at: Timestamp
        let isOpen: Bool
    }

    /// The verdicts of probes, from the blocks that ended or tripped again.
    private let verdicts: [ProbeVerdict]

    package init(_ blocks: [(block: BrakeBlock, isAsleep: Bool)], overrides: [BrakeOverride] = []) {
        var known: [BrakeKey: Block] = [:]
        for (block, isAsleep) in blocks where block.state != .ended {
            known[block.key] = Block(state: block.state, changesAt: block.changesAt, isAsleep: isAsleep)
        }
        self.blocks = known
        orders = Dictionary(
            overrides.lazy.filter { !$0.isUsedUp }
                .map { (Place(scope: $0.scope, key: $0.key), Order(action: $0.action, until: $0.until)) },
            uniquingKeysWith: { $1 }
        )
        verdicts = blocks.compactMap { block, _ in
            switch block.state {
            case .ended: ProbeVerdict(at: block.changesAt, isOpen: true)
            case .blocked, .halfOpen: block.trips > 1 ? ProbeVerdict(at: block.beganAt, isOpen: false) : nil
            }
        }
    }

    package var isEmpty: Bool { blocks.isEmpty && orders.isEmpty }

    /// True if the scope is blocked or half open.
    func holds(_ key: BrakeKey) -> Bool { blocks[key] != nil }

    func count(of state: BrakeBlock.State) -> Int { blocks.values.count { $0.state == state } }

    private func probesPerMinute(at now: Timestamp) -> Int {
        var (opened, failed) = (0, 0)
        for verdict in verdicts where verdict.at > now - Brake.window {
            if verdict.isOpen { opened += 1 } else { failed += 1 }
        }
        return Self.probesPerMinute(opened: opened, failed: failed)
    }

    /// The probes a minute for a tenant: fewer while probes keep failing in nearly all scopes of the last hour.
    static func probesPerMinute(opened: Int, failed: Int) -> Int { failed > 4 + 2 * opened ? 2 : 10 }

    /// The brake's decision on a request: the narrowest scope that refuses it decides.
    package func verdict(
        on subject: BrakeSubject,
        under policy: BrakePolicy,
        turns: BrakeTurns,
        at now: Timestamp
    ) -> BrakeVerdict {
        var verdict = BrakeVerdict()
        for scope in BrakeScope.allCases {
            guard let key = subject.key(of: scope) else { continue }
            switch effect(of: key, on: subject, under: policy, turns: turns, at: now) {
            case .exempt(.ordered) where policy.mode(of: scope, in: subject.region) == .enforce:
                verdict.overruled = verdict.overruled ?? .init(key: key, order: .allow)
            case .none, .off, .exempt: continue
            case .probe: verdict.probes.append(key)
            case .recorded(let reason):
                verdict.recorded = verdict.recorded ?? key
                if reason == .launch { verdict.overruled = verdict.overruled ?? .init(key: key, order: .launch) }
            case .refused(let until): return BrakeVerdict(refusal: .init(key: key, until: until))
            }
        }
        return verdict
    }

    /// The effect of one scope on a request.
    package func effect(
        of key: BrakeKey,
        on subject: BrakeSubject,
        under policy: BrakePolicy,
        turns: BrakeTurns,
        at now: Timestamp
    ) -> BrakeEffect {
        let order = order(.block, on: key, at: now)
        guard order != nil || blocks[key] != nil else { return .none }
        if let exemption = exemption(of: subject, from: key.scope, under: policy, at: now) { return .exempt(exemption) }
        if let order { return .refused(until: order.until) }
        guard let block = blocks[key] else { return .none }
        let mode = policy.mode(of: key.scope, in: subject.region)
        if mode == .off { return .off }
        // The end of a block holds though the reader has not moved it on yet; without a reader nobody would, and nobody
        // would end a half-open scope.
        if block.state == .blocked, now - block.changesAt > Self.patience { return .none }
        if block.state == .halfOpen, isReaderSilent { return .none }
        let isHalfOpen = block.state == .halfOpen || block.changesAt <= now
        let turn = BrakeTurn(tenant: subject.tenant, key: key)
        // A further message of a verification from before the block would take a turn, and tell nothing new.
        if isHalfOpen, !subject.isResend, turns.isFree(turn, perMinute: probesPerMinute(at: now), at: now) {
            return .probe
        }
        if mode == .record { return .recorded(.mode) }
        if block.isAsleep { return .recorded(.fewApprovals) }
        if key.scope >= .range, isLaunched(subject.region, at: now) { return .recorded(.launch) }
        return .refused(until: isHalfOpen ? now + BrakeBlock.probeTime : block.changesAt)
    }

    /// The time after the end of a block within which a reader makes it half open, and judges what is half open.
    fileprivate static let patience = Duration.seconds(120)

    private func exemption(
        of subject: BrakeSubject,
        from scope: BrakeScope,
        under policy: BrakePolicy,
        at now: Timestamp
    ) -> BrakeEffect.Exemption? {
        if subject.keys.isConfirmed { return .confirmed }
        if policy.allows(subject.number, from: subject.address) { return .allowed }
        if isAllowed(subject, at: now) { return .ordered }
        if scope >= .range, subject.isTrusted { return .trusted }
        return scope == .region && subject.isResend ? .resend : nil
    }

    private func isAllowed(_ subject: BrakeSubject, at now: Timestamp) -> Bool {
        if orders.isEmpty { return false }
        if order(.allow, at: Place(scope: .phone, key: subject.recipient), now) != nil { return true }
        return BrakeScope.allCases.contains { scope in
            subject.key(of: scope).flatMap { order(.allow, on: $0, at: now) } != nil
        }
    }

    private func isLaunched(_ region: Region, at now: Timestamp) -> Bool {
        order(.launch, on: BrakeKey(region: region.code), at: now) != nil
    }

    private func order(_ action: BrakeOverride.Action, on key: BrakeKey, at now: Timestamp) -> Order? {
        order(action, at: Place(scope: BrakeOverride.Scope(key.scope), key: key.value), now)
    }

    private func order(_ action: BrakeOverride.Action, at place: Place, _ now: Timestamp) -> Order? {
        orders[place].flatMap { $0.action == action && now < $0.until ? $0 : nil }
    }
}

/// The blocks and the operators' orders of all tenants, as last read by a worker.
package struct BrakeBoard: Sendable, Equatable {
    package static let empty = BrakeBoard(blocks: [], overrides: [])

    private let tenants: [String: BrakeSnapshot]

    /// The probes that this worker has let through.
    package var turns = BrakeTurns()

    /// The age of the youngest verification that the fleet's reader has judged; nil if unknown.
    package var readerLag: Duration?

    /// Makes a board from blocks in all states: those that ended within the last hour show the success of probes.
    package init(blocks: [(tenant: String, block: BrakeBlock, isAsleep: Bool)], overrides: [BrakeOverride]) {
        let blocksByTenant = Dictionary(grouping: blocks, by: \.tenant)
        let overridesByTenant = Dictionary(grouping: overrides, by: \.tenant)
        var tenants: [String: BrakeSnapshot] = [:]
        for tenant in Set(blocksByTenant.keys).union(overridesByTenant.keys) {
            let snapshot = BrakeSnapshot(
                (blocksByTenant[tenant] ?? []).map { ($0.block, $0.isAsleep) },
                overrides: overridesByTenant[tenant] ?? []
            )
            if !snapshot.isEmpty { tenants[tenant] = snapshot }
        }
        self.tenants = tenants
    }

    /// A tenant's blocks and orders; nil if there are none.
    package subscript(tenant: String) -> BrakeSnapshot? {
        guard var snapshot = tenants[tenant] else { return nil }
        snapshot.isReaderSilent = (readerLag ?? .zero) > BrakeSnapshot.patience
        return snapshot
    }

    /// The number of scopes of all tenants in a state.
    package func count(of state: BrakeBlock.State) -> Int {
        tenants.values.reduce(0) { $0 + $1.count(of: state) }
    }
}
