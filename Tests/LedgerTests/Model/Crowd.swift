// SPDX-License-Identifier: Apache-2.0

import Formats
import Ledger
import TestSupport
import TestTools
import Verification

/// Identifies an event by its stream and sequence number.
private struct Place: Hashable {
    let stream: UUIDValue
    let sequence: Int32

    init(_ record: OutboxRecord) { (stream, sequence) = (record.stream, record.sequence) }
}

/// Many workers that decide requests of the same people at once, with checks that hold in any order of decisions.
///
/// While the clock does not move, counts only grow. So a refusal by a limit is right in some order exactly when the
/// limit is full at the end, and a limit is kept when its count never exceeds it.
struct Crowd {
    let clocked: ClockedDatabase
    let policy: Policy
    var random: TestSeed
    private(set) var now = Timestamp.test
    private(set) var faults: [String] = []
    private(set) var reasons: [String: Int] = [:]
    private var past: [ModelRecord] = []

    /// The indices in `past` of each partition's records.
    private var places: [Int32: [Int]] = [:]
    private var requests: [String: ModelRequest] = [:]
    private var delivered: Set<Int64> = []
    private var admissions: [NaiveModel.Admission] = []
    private var first: [String: Int] = [:]
    private var sequences: [String: Set<Int64>] = [:]

    init(_ clocked: ClockedDatabase, seed: UInt64) {
        self.clocked = clocked
        random = TestSeed(seed: seed)
        policy = Self.policy
    }

    /// Tenants with one limit each, and a tenant with all limits.
    private static let policy: Policy = {
        func limits(_ limits: [(Int, Int)]) -> [RateLimit] {
            limits.map { RateLimit(count: $0.0, per: .seconds($0.1)) }
        }
        var tenants: [String: TenantPolicy] = [:]
        let policies: [String: LimitPolicy] = [
            "any": LimitPolicy(perRecipient: [], perIP: [], perTenant: []),
            "recipient": LimitPolicy(perRecipient: limits([(2, 10), (3, 60)]), perIP: [], perTenant: []),
            "ip": LimitPolicy(perRecipient: [], perIP: limits([(3, 10), (5, 60)]), perTenant: []),
            "tenant": LimitPolicy(perRecipient: [], perIP: [], perTenant: limits([(12, 10), (20, 60)])),
            "all": LimitPolicy(
                perRecipient: limits([(2, 10)]),
                perIP: limits([(6, 60)]),
                perTenant: limits([(15, 60)])
            ),
        ]
        for (name, limits) in policies {
            tenants[name] =
                Policy.desk {
                    $0.limits = limits
                    $0.resend.windows = [.seconds(5), .seconds(10)]
                }.tenants[RuleDesk.tenant]
        }
        return Policy(version: "crowd", tenants: tenants)
    }()

    /// Runs one round: a few hundred records in batches of 1 to 40, decided by several workers at once.
    ///
    /// Each worker owns some partitions. With `everywhere` each worker decides all records, in the same order, as
    /// workers do that have not yet noticed a rebalance.
    mutating func round(workers: Int, everywhere: Bool = false) async throws {
        now = now + .microseconds(random.pick([0, 4_999_999, 5_000_000, 10_000_000, 60_000_000]))
        try await clocked.set(now)
        let earlier = past.count
        var queues: [[[ModelRecord]]] = Array(repeating: [], count: workers)
        for _ in 0..<(10 + random.below(10)) {
            let partition = Int32(random.below(8))
            let batch = (0...random.below(40)).map { _ in record(in: partition, earlier) }
            for worker in 0..<workers where everywhere || worker == Int(partition) % workers {
                queues[worker].append(batch)
            }
        }
        let records = queues.flatMap { $0.flatMap(\.self) }
        let recorded = try await clocked.decide(queues.map { $0.map { $0.map(\.inbound) } }, policy, at: now)
        let claims = recorded.flatMap(\.value)
        check(records, claims, try await publishAll(recorded.flatMap(\.outbox)))
        let settled = try await clocked.worker(policy).ledger.record(claims.map { SendResult($0, .sent) })
        note(try await publishAll(settled.outbox))
        reasons["sent", default: 0] += claims.count
    }

    /// Picks a record for a partition: a redelivery from an `earlier` round, a repeated request, or a new request.
    private mutating func record(in partition: Int32, _ earlier: Int) -> ModelRecord {
        if earlier > 0, random.chance(8) { return past[random.below(earlier)] }
        var request = ModelRequest(
            id: "r\(past.count)",
            tenant: random.pick(["any", "recipient", "ip", "tenant", "all"]),
            requestedAt: now
        )
        request.purpose = random.pick([.signIn, .signUp, .mfaSignIn, .accountLink])
        request.number = "+49151\(10_000_000 + random.below(request.tenant == "tenant" ? 40 : 8))"
        request.ip = random.pick([nil, "192.0.2.1", "192.0.2.2", "192.0.2.3"])
        // A gateway publishes a repeated request to the same partition, the recipient's.
        let before = places[partition, default: []]
        if !before.isEmpty, random.chance(12) { request = past[random.pick(before)].request }
        let record = ModelRecord(partition: partition, offset: Int64(past.count), request: request)
        places[partition, default: []].append(past.count)
        requests["\(request.tenant) \(request.id)"] = request
        past.append(record)
        return record
    }
}

extension Crowd {
    /// Publishes all unpublished records, as another worker may after their leases expire.
    private mutating func publishAll(_ handedOver: [OutboxRecord]) async throws -> [OutboxRecord] {
        try await clocked.database.script(
            "UPDATE courier.outbox SET lease_until = '-infinity'; UPDATE courier.outbox_pack SET lease_until = '-infinity'"
        )
        let ledger = clocked.worker(policy).ledger
        let all = try await ledger.publishAll(ledger.sweepOutbox())
        let stored = Dictionary(all.map { (Place($0), $0) }) { first, _ in first }
        if !handedOver.allSatisfy({ stored[Place($0)] == $0 }) {
            faults.append("an event was handed over and is in no table")
        }
        return all
    }

    private mutating func check(_ records: [ModelRecord], _ claims: [ClaimedSend], _ outbox: [OutboxRecord]) {
        let events = outbox.compactMap { ModelEvent($0, names: [:]) }
        // 1. Every record gets exactly one answer, however often it is delivered.
        let new = Set(records.map(\.offset)).subtracting(delivered)
        delivered.formUnion(new)
        if claims.count + events.count != new.count {
            faults.append("\(new.count) new records, \(claims.count) sends, \(events.count) events")
        }
        // 2. Every request id has one decision; all later answers are duplicates of it.
        for event in events where event.reason != "duplicate_request" {
            first["\(event.tenant) \(event.requestID)", default: 0] += 1
        }
        for claim in claims { first["\(claim.tenant) \(claim.reference.requestID)", default: 0] += 1 }
        for record in records where first["\(record.request.tenant) \(record.request.id)"] != 1 {
            faults.append("request \(record.request.id) of \(record.request.tenant) has not one decision")
        }
        // 3. A slot has at most one open send.
        var slots: Set<String> = []
        for claim in claims
        where !slots.insert("\(claim.tenant) \(claim.purpose) \(claim.recipient.canonical)").inserted {
            faults.append("two sends for one slot of \(claim.tenant)")
        }
        note(outbox)
        checkLimits(claims, events)
    }

    private mutating func checkLimits(_ claims: [ClaimedSend], _ events: [ModelEvent]) {
        for claim in claims {
            guard let request = requests["\(claim.tenant) \(claim.reference.requestID)"] else { continue }
            admissions.append(.init(request, at: now))
            for reason in ["quota_recipient", "quota_ip", "quota_tenant"] where fill(request, reason).isOver {
                faults.append("\(reason) of \(request.tenant) is more than full")
            }
        }
        for event in events {
            reasons[event.reason ?? event.status, default: 0] += 1
            guard let reason = event.reason, reason.hasPrefix("quota_"),
                let request = requests["\(event.tenant) \(event.requestID)"]
            else { continue }
            if !fill(request, reason).isFull { faults.append("\(reason) of \(request.tenant) refuses and is not full") }
        }
    }

    private func fill(_ request: ModelRequest, _ reason: String) -> (isFull: Bool, isOver: Bool) {
        guard let limits = policy.tenants[request.tenant]?.limits else { return (false, true) }
        let (mine, rules): ([NaiveModel.Admission], [RateLimit]) =
            switch reason {
            case "quota_recipient": (admissions.filter { $0.number == request.number }, limits.perRecipient)
            case "quota_ip": (admissions.filter { $0.ip == request.ip && $0.ip != nil }, limits.perIP)
            default: (admissions, limits.perTenant)
            }
        let used = rules.map { limit in
            (mine.count { $0.tenant == request.tenant && now - $0.time < limit.per }, limit.count)
        }
        return (used.contains { $0.0 >= $0.1 }, used.contains { $0.0 > $0.1 })
    }

    /// Records the sequence numbers of a verification's events, each of which must be unique.
    private mutating func note(_ outbox: [OutboxRecord]) {
        for record in outbox {
            if !sequences[record.stream.description, default: []].insert(Int64(record.sequence)).inserted {
                faults.append("event \(record.sequence) twice")
            }
        }
    }

    /// Number of verifications whose event numbers are not 1, 2, 3 and so on.
    var gaps: Int { sequences.values.count { $0.max() != Int64($0.count) } }
}

extension ClockedDatabase {
    /// Decides each queue of batches on a worker with its own connection, and returns all results.
    func decide(
        _ queues: [[[InboundRecord]]],
        _ policy: Policy,
        at now: Timestamp
    ) async throws -> [Recorded<[ClaimedSend]>] {
        try await withThrowingTaskGroup(of: [Recorded<[ClaimedSend]>].self) { group in
            for queue in queues {
                group.addTask {
                    try await withWorker(policy, connections: 1) { worker in
                        var recorded: [Recorded<[ClaimedSend]>] = []
                        for batch in queue { recorded.append(try await worker.intakeBesideOthers(batch, at: now)) }
                        return recorded
                    }
                }
            }
            return try await group.reduce(into: []) { $0 += $1 }
        }
    }
}
