// SPDX-License-Identifier: Apache-2.0

package import Formats

/// Replays past verifications through the brakes of a policy: the reader's judgements and the workers' decisions at the
/// times of the past.
///
/// A message that a replayed block refuses does not count as later evidence, as if it had never been sent.
package struct BrakeReplay {
    /// The time before the range that is replayed to build up evidence and blocks.
    package static let warmUp = Brake.window

    /// The interval between two rounds of the reader.
    private static let interval = Duration.seconds(2)

    private struct Arrival {
        let tenant: String
        let sample: ConversionSample
        let beganAt: Timestamp
    }

    private let policy: Policy
    private let hours: ConversionCounts
    private let start: Timestamp
    private var now: Timestamp
    private var learnedTo: Timestamp?
    private var brakes = TenantBrakes()

    /// The blocks as a worker would read them, and its board from the round before.
    private var blocks: [BrakeTurn: TenantBlock] = [:]
    private var next: BrakeBoard?
    private var board = BrakeBoard.empty

    /// The sent verifications, oldest first, and the number of them read at each age.
    private var sent: [Arrival] = []
    private var positions = [Int](repeating: 0, count: ApprovalCurve.readings.count)
    package private(set) var report = BrakeReplayReport()

    /// - Parameters:
    ///   - policy: the policy whose brakes are replayed.
    ///   - hours: the stored counts from `ConversionHistory.span` before the range to its end.
    ///   - start: the start of the range; pass verifications from `warmUp` before it.
    package init(_ policy: Policy, hours: ConversionCounts, from start: Timestamp) {
        self.policy = policy
        self.hours = hours
        self.start = start
        now = start - Self.warmUp
        brakes.follow(policy, at: now)
    }

    /// Replays all verifications that began before `end`, which must increase from call to call.
    package mutating func play(_ samples: [String: [ConversionSample]], to end: Timestamp) {
        var arrivals = samples.flatMap { tenant, samples in
            samples.compactMap { sample in
                sample.id.version7Time.map { Arrival(tenant: tenant, sample: sample, beganAt: $0) }
            }
        }
        arrivals.sort { $0.sample.id < $1.sample.id }
        var rest = arrivals[...]
        while now + Self.interval <= end {
            now = now + Self.interval
            learn()
            while let arrival = rest.first, arrival.beganAt < now {
                rest.removeFirst()
                decide(arrival)
            }
            read()
            judge()
        }
        // The slices passed by the caller may end within a round.
        for arrival in rest { decide(arrival) }
    }

    /// Learns from the hours that are complete by now.
    private mutating func learn() {
        let end = (now - (ApprovalCurve.ages.last ?? .zero)).hour
        guard learnedTo != end else { return }
        learnedTo = end
        brakes.learn(ConversionCounts(hours.groups.filter { $0.key.hour < end }), at: now)
    }

    private mutating func decide(_ arrival: Arrival) {
        let (tenant, sample) = (arrival.tenant, arrival.sample)
        var tally = BrakeReplayReport.Tally()
        let price = sample.provider.flatMap { policy.prices?.estimate($0, Region(sample.region)) }
        tally.add(sample, price: price)
        let verdict = verdict(on: arrival)
        for key in verdict.probes { board.turns.take(BrakeTurn(tenant: tenant, key: key), at: arrival.beganAt) }
        if let key = verdict.refusal?.key ?? verdict.recorded {
            brakes.noteRefusal(by: BrakeTurn(tenant: tenant, key: key), at: arrival.beganAt)
        }
        if verdict.refusal == nil { sent.append(arrival) }
        if arrival.beganAt >= start { report.add(tally, of: tenant, verdict, at: arrival.beganAt) }
    }

    private func verdict(on arrival: Arrival) -> BrakeVerdict {
        guard let snapshot = board[arrival.tenant], let rules = policy.tenants[arrival.tenant]?.brake else {
            return BrakeVerdict()
        }
        let subject = BrakeSubject(arrival.sample, tenant: arrival.tenant)
        return snapshot.verdict(on: subject, under: rules, turns: board.turns, at: arrival.beganAt)
    }

    /// Reads the oldest verifications first, so that each is read in the order of its ages.
    private mutating func read() {
        for index in ApprovalCurve.readings.indices.reversed() {
            let end = now - ApprovalCurve.readings[index]
            var samples: [String: [ConversionSample]] = [:]
            while positions[index] < sent.count, sent[positions[index]].beganAt < end {
                let arrival = sent[positions[index]]
                samples[arrival.tenant, default: []].append(arrival.sample.seen(after: now - arrival.beganAt))
                positions[index] += 1
            }
            if samples.isEmpty { continue }
            let age = index == 0 ? nil : index - 1
            brakes.read(samples, age: age, countedFrom: Timestamp(microseconds: .max))
        }
        let done = positions[ApprovalCurve.readings.count - 1]
        guard done > 1000, done * 2 > sent.count else { return }
        sent.removeFirst(done)
        for index in positions.indices { positions[index] -= done }
    }

    /// Judges, and passes the blocks of the round before to the workers.
    private mutating func judge() {
        if let next {
            let turns = board.turns
            board = next
            board.turns = turns
        }
        next = nil
        let changed = brakes.judge(at: now).changed
        if changed.isEmpty { return }
        for block in changed {
            blocks[block.turn] = block
            report.note(block, at: now)
        }
        blocks = blocks.filter { $0.value.block.isInForce || now - $0.value.block.changesAt <= Brake.window }
        next = BrakeBoard(blocks: blocks.values.map { ($0.tenant, $0.block, $0.isAsleep) }, overrides: [])
    }

    /// Frees the verifications, which form reference cycles with their scopes.
    package mutating func removeAll() {
        brakes.removeAll()
    }
}

/// The result of a replay.
package struct BrakeReplayReport: Sendable, Equatable {
    /// The maximum number of a tenant's scopes that are listed; the others are only summed.
    package static let maximumKeys = Brake.maximumBlocks

    /// A number of verifications, with the messages sent for them.
    package struct Tally: Sendable, Equatable {
        package private(set) var verifications = 0
        package private(set) var messages = 0

        /// The verifications whose code was typed in, so of honest people.
        package private(set) var approved = 0

        /// The cost of the messages whose price is known.
        package private(set) var cost = Money.zero

        package init() {}

        mutating func add(_ sample: ConversionSample, price: Money?) {
            verifications += 1
            if sample.outcome == .approved { approved += 1 }
            guard sample.outcome == .approved || sample.outcome == .open else { return }
            messages += sample.sends
            if let price { cost += Money(micros: price.micros * Int64(sample.sends)) }
        }

        static func += (sum: inout Tally, other: Tally) {
            sum.verifications += other.verifications
            sum.messages += other.messages
            sum.approved += other.approved
            sum.cost += other.cost
        }
    }

    package struct Block: Sendable, Equatable {
        package let from: Timestamp

        /// The end of the block, by time or by its probes.
        package fileprivate(set) var until: Timestamp
        package let shortfall: Shortfall
    }

    package struct Scope: Sendable, Equatable {
        package let region: String
        package fileprivate(set) var blocks: [Block] = []
        package fileprivate(set) var refused = Tally()

        /// Verifications that would have been refused if the scope were enforced.
        package fileprivate(set) var recorded = Tally()
    }

    package struct Tenant: Sendable, Equatable {
        package fileprivate(set) var all = Tally()
        package fileprivate(set) var refused = Tally()
        package fileprivate(set) var recorded = Tally()
        package fileprivate(set) var probes = 0
        package fileprivate(set) var scopes: [BrakeKey: Scope] = [:]

        /// True if the tenant had too few approvals for a verdict during some block, which then only recorded.
        package fileprivate(set) var wasAsleep = false
    }

    package private(set) var tenants: [String: Tenant] = [:]

    /// The times of the first and the last verification.
    package private(set) var first: Timestamp?
    package private(set) var last: Timestamp?
    package var isInterrupted = false

    package init() {}

    package var verifications: Int { tenants.values.reduce(0) { $0 + $1.all.verifications } }

    fileprivate mutating func add(_ tally: Tally, of name: String, _ verdict: BrakeVerdict, at time: Timestamp) {
        first = first ?? time
        last = time
        tenants[name, default: Tenant()].all += tally
        if !verdict.probes.isEmpty { tenants[name]?.probes += 1 }
        if let key = verdict.refusal?.key {
            tenants[name]?.refused += tally
            tenants[name]?.scopes[key]?.refused += tally
        } else if let key = verdict.recorded {
            tenants[name]?.recorded += tally
            tenants[name]?.scopes[key]?.recorded += tally
        }
    }

    fileprivate mutating func note(_ changed: TenantBlock, at now: Timestamp) {
        let (name, block) = (changed.tenant, changed.block)
        var tenant = tenants[name] ?? Tenant()
        defer { tenants[name] = tenant }
        let known = tenant.scopes[block.key]
        guard known != nil || tenant.scopes.count < Self.maximumKeys else { return }
        var scope = known ?? Scope(region: block.region)
        switch block.state {
        case .blocked:
            if changed.isAsleep { tenant.wasAsleep = true }
            // A tenant whose approvals become too few, or enough again, has its blocks changed, too.
            if scope.blocks.last?.from != block.beganAt {
                scope.blocks.append(Block(from: block.beganAt, until: block.changesAt, shortfall: block.shortfall))
            }
        case .halfOpen: break
        case .ended: scope.blocks.withLast { $0.until = max($0.until, now) }
        }
        tenant.scopes[block.key] = scope
    }
}

extension Array {
    fileprivate mutating func withLast(_ change: (inout Element) -> Void) {
        if !isEmpty { change(&self[count - 1]) }
    }
}

extension ConversionSample {
    /// The verification as it was a given time after its beginning: without an approval that came later.
    ///
    /// The time at which a provider rejected a message is not stored, so the rejection counts from the beginning.
    fileprivate func seen(after time: Duration) -> ConversionSample {
        guard outcome == .approved, let approvedAfter, approvedAfter > time else { return self }
        return ConversionSample(
            id: id,
            region: region,
            client: client,
            prefix: prefix,
            range: range,
            isConfirmed: isConfirmed,
            outcome: .open,
            provider: provider,
            firstProvider: firstProvider,
            sends: sends
        )
    }
}

extension BrakeSubject {
    /// A past request: neither its number nor its address is stored, so no list of the policy matches it.
    fileprivate init(_ sample: ConversionSample, tenant: String) {
        self.init(
            tenant: tenant,
            keys: BrakeKeys(
                client: sample.client,
                prefix: sample.prefix,
                range: sample.range,
                isConfirmed: sample.isConfirmed
            ),
            region: Region(sample.region) ?? .unknown,
            number: nil,
            address: nil,
            recipient: 0,
            isTrusted: false
        )
    }
}

extension PriceTable {
    /// The price of a one-segment message to a region, without prices of prefixes; nil if the table has none.
    fileprivate func estimate(_ provider: String, _ region: Region?) -> Money? {
        let own = prices.filter { $0.provider == provider && $0.prefix == nil }
        return (own.first { $0.region != nil && $0.region == region } ?? own.first { $0.region == nil })?.amount
    }
}

extension BrakePolicy {
    /// The policy with every recording scope enforced.
    package var enforced: BrakePolicy {
        func enforced(_ mode: Mode) -> Mode { mode == .record ? .enforce : mode }
        var policy = self
        policy.mode = enforced(mode)
        policy.scopes = scopes.mapValues(enforced)
        policy.regions = regions.mapValues(enforced)
        return policy
    }
}
