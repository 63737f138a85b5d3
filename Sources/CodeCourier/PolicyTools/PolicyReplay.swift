// SPDX-License-Identifier: Apache-2.0

import Formats
import Synchronization
import Verification

/// Decides the same records by two policies, each with its own simulation, and counts the differences.
struct PolicyReplay {
    private(set) var report = ReplayReport()
    private let screeners: Pair<Screener>
    private let plan: NumberPlan
    private let numbers: LastNumber
    private var simulations: Pair<PolicySimulation>
    private var generator = IdentifierGenerator()

    /// The upper bound of record times: a producer's clock may be ahead.
    private let latest: Timestamp

    /// The time of the previous record, used for a record without a plausible time.
    private var lastTime: Timestamp

    /// Creates a replay for records from `start` to `latest`.
    init(
        policies: Pair<Policy>,
        numbers: any NumberDirectory,
        maxRequestAge: Duration,
        start: Timestamp? = nil,
        latest: Timestamp
    ) {
        let keys = CodeKeys.throwAway()
        let remembered = LastNumber(numbers)
        self.numbers = remembered
        plan = policies.current.numberPlan
        self.latest = latest
        lastTime = start ?? latest
        screeners = policies.map { Screener(policy: $0, keys: keys, numbers: remembered) }
        simulations = policies.map { PolicySimulation(policy: $0, keys: keys, maxRequestAge: maxRequestAge) }
    }

    mutating func replay(_ record: InboundRecord) {
        if let time = record.timestamp, time <= latest { lastTime = time }
        let now = lastTime
        let candidate = screeners.current.candidate(for: record, now: now, using: &generator)
        let other = screened(candidate, by: screeners.candidate, at: now)
        let decisions = Pair(
            current: simulations.current.decide(candidate, at: now),
            candidate: simulations.candidate.decide(other, at: now)
        )
        report.add(decisions, tenant: tenant(of: candidate), region: region(of: candidate), at: now)
    }

    /// Screens a record by another policy, without parsing it again.
    private mutating func screened(_ candidate: Candidate, by screener: Screener, at now: Timestamp) -> Candidate {
        switch candidate.content {
        case .deadLetter: candidate
        case .invalid: screener.candidate(for: candidate.record, now: now, using: &generator)
        case .request(let request, _):
            Candidate(
                record: candidate.record,
                content: .request(request, screener.screen(request)),
                key: candidate.key,
                digest: candidate.digest,
                verificationID: candidate.verificationID,
                sendID: candidate.sendID
            )
        }
    }

    private func tenant(of candidate: Candidate) -> String {
        candidate.key.tenant.isEmpty ? "-" : candidate.key.tenant
    }

    /// The region by the current policy's corrections to the numbering plans.
    private func region(of candidate: Candidate) -> String {
        guard case .request(let request, _) = candidate.content, case .phone(let number) = request.recipient else {
            return "-"
        }
        return plan.facts(of: number) { numbers.facts(of: number) }.region.code
    }
}

/// A value for each of the two policies.
struct Pair<Value> {
    var current: Value
    var candidate: Value

    func map<Other>(_ transform: (Value) throws -> Other) rethrows -> Pair<Other> {
        Pair<Other>(current: try transform(current), candidate: try transform(candidate))
    }
}

extension Pair: Sendable where Value: Sendable {}
extension Pair: Equatable where Value: Equatable {}

/// Caches the facts about the last number, which each policy and the statistics look up.
private final class LastNumber: NumberDirectory {
    private let directory: any NumberDirectory
    private let last = Mutex<(number: PhoneNumber, facts: NumberFacts)?>(nil)

    init(_ directory: any NumberDirectory) {
        self.directory = directory
    }

    func facts(of number: PhoneNumber) -> NumberFacts {
        last.withLock { last in
            if let last, last.number == number { return last.facts }
            let facts = directory.facts(of: number)
            last = (number, facts)
            return facts
        }
    }
}

/// SplitMix64, since the ids of a simulation must be unique but need not be unguessable.
private struct IdentifierGenerator: RandomNumberGenerator {
    private var state = UInt64.random(in: .min ... .max)

    mutating func next() -> UInt64 {
        state &+= 0x9e37_79b9_7f4a_7c15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xbf58_476d_1ce4_e5b9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94d0_49bb_1331_11eb
        return mixed ^ (mixed >> 31)
    }
}

/// The request ids of today and yesterday in UTC, the days that the database keeps.
///
/// There is one for every request, so to save memory an entry is only a digest of its key and one of its payload.
struct RememberedRequests {
    private var today: [UUIDValue: UUIDValue] = [:]
    private var yesterday: [UUIDValue: UUIDValue] = [:]
    private var day: Int64?

    /// Drops the day before yesterday when a new day begins.
    mutating func advance(to time: Timestamp) {
        let newDay = time.microseconds / 86_400_000_000
        guard let day else {
            self.day = newDay
            return
        }
        guard newDay > day else { return }
        yesterday = newDay == day + 1 ? today : [:]
        today = [:]
        self.day = newDay
    }

    /// The payload's digest of a known request id; nil for a new one.
    func digest(of key: RequestKey) -> UUIDValue? { today[key.digest] ?? yesterday[key.digest] }

    mutating func remember(_ candidate: Candidate) { today[candidate.key.digest] = candidate.digest }
}
