// SPDX-License-Identifier: Apache-2.0

import Formats
import Glibc
import TestTools

@testable import Verification

/// A week of one tenant whose text messages three providers may carry.
///
/// 202,000 verifications in six regions of 60 to 20,000 a day. The provider that converts best on the whole delivers
/// nothing for two hours on day 3, and converts 25 points less from day 5 on.
struct RouteSimulation {
    enum Router: CaseIterable {
        case first, equal, signal, adaptive
    }

    struct Result {
        var verifications = 0

        /// The sum of the differences to the most valuable provider of the moment.
        var regret = 0.0
        var approved = 0

        /// Messages that the silent provider took.
        var lost = 0

        /// Regret by region.
        var regions: [String: (count: Int, regret: Double)] = [:]
        var silences = 0
        var recoveries = 0

        /// Silences of a provider that delivered.
        var falseSilences = 0
        var points: Double { 100 * regret / Double(verifications) }
    }

    static let providers = ["main", "backup", "cheap"]
    static let prices = ["main": 50_000, "backup": 30_000, "cheap": 20_000].mapValues { Money(micros: $0) }
    static let start = Timestamp(microseconds: 1_700_006_400_000_000)
    static let days = 7
    static let silentMinutes = 3 * 1440 + 720..<3 * 1440 + 840
    static let worseFrom = 5 * 1440

    private var random: TestSeed
    let volumes: [(region: String, perDay: Int)]
    let conversions: [String: [Double]]

    init(
        seed: UInt64,
        volumes: [(String, Int)] = [("DE", 20_000), ("US", 6000), ("FR", 2000), ("PL", 600), ("NO", 200), ("IS", 60)]
    ) {
        var random = TestSeed(seed: seed)
        self.volumes = volumes
        conversions = Dictionary(
            uniqueKeysWithValues: volumes.map { region, _ in
                let base = 0.66 + 0.06 * random.normal()
                let values = [0.10, 0, -0.10].map { min(0.95, max(0.15, base + $0 + 0.10 * random.normal())) }
                return (region, values)
            }
        )
        self.random = random
    }

    /// The conversion of a provider at a minute, for confirmed people and others alike.
    private func conversion(_ region: String, _ provider: Int, _ minute: Int) -> Double {
        guard let values = conversions[region] else { return 0 }
        if provider == 0, Self.silentMinutes.contains(minute) { return 0 }
        return provider == 0 && minute >= Self.worseFrom ? max(0.05, values[0] - 0.25) : values[provider]
    }

    private static let costs = providers.map { provider in
        0.05 * log2(Double(prices[provider]?.micros ?? 1) / 20_000)
    }

    struct Person {
        let id: UUIDValue
        let region: String
        let provider: Int
        let minute: Int

        /// Seconds to the approval; nil for never.
        let approvedAfter: Double?

        func sample(at second: Double) -> ConversionSample {
            let isApproved = approvedAfter.map { Double(minute * 60) + $0 <= second } ?? false
            return ConversionSample(
                id: id,
                region: region,
                client: nil,
                prefix: nil,
                range: nil,
                isConfirmed: false,
                outcome: isApproved ? .approved : .open,
                provider: RouteSimulation.providers[provider],
                approvedAfter: isApproved ? approvedAfter.map { .milliseconds(Int64($0 * 1000)) } : nil
            )
        }
    }

    struct Knowledge: ConversionBaseline {
        let perDay: [String: Int]

        func rate(region: String, isConfirmed: Bool) -> ApprovalRate { ApprovalRate(approved: 0.66e6, of: 1e6) }
        func curve(region: String) -> ApprovalCurve { .usual }
        func usualVolume(region: String, at time: Timestamp) -> Double { Double(perDay[region] ?? 0) / 24 }
    }

    mutating func run(_ router: Router) -> Result {
        var result = Result()
        var signal = SignalRouter()
        var routes = TenantRoutes(route: AdaptiveRoute(providers: Self.providers), prices: Self.prices)
        let knowledge = Knowledge(perDay: Dictionary(uniqueKeysWithValues: volumes.map { ($0.region, $0.perDay) }))
        var slices: [[Person]] = []
        for minute in 0..<Self.days * 1440 {
            let now = Self.start + .seconds(60 * (minute + 1))
            var slice: [Person] = []
            for (region, perDay) in volumes {
                for _ in 0..<count(Double(perDay) / 1440) {
                    let provider = choose(router, region, &signal, routes)
                    slice.append(person(region, provider, minute, &result))
                }
            }
            slices.append(slice)
            if router == .signal {
                signal.step(minute, slice.map { ($0.region, $0.provider, $0.approvedAfter != nil) })
            }
            if router != .adaptive { continue }
            routes.take(slices, minute, knowledge, at: now)
            for change in routes.judge(by: knowledge, at: now) {
                guard change.silence != nil else {
                    result.recoveries += 1
                    continue
                }
                result.silences += 1
                let isMain = change.place.provider == "main"
                let late = Self.silentMinutes.lowerBound..<Self.silentMinutes.upperBound + 30
                if !isMain || !late.contains(minute) { result.falseSilences += 1 }
            }
        }
        return result
    }

    private mutating func person(
        _ region: String,
        _ provider: Int,
        _ minute: Int,
        _ result: inout Result
    ) -> Person {
        let own = conversion(region, provider, minute)
        let best = Self.providers.indices.map { conversion(region, $0, minute) - Self.costs[$0] }.max() ?? 0
        let regret = best - (own - Self.costs[provider])
        let isApproved = random.unit() < own
        result.verifications += 1
        result.regret += regret
        let sums = result.regions[region] ?? (0, 0)
        result.regions[region] = (sums.count + 1, sums.regret + regret)
        if isApproved { result.approved += 1 }
        if provider == 0, Self.silentMinutes.contains(minute) { result.lost += 1 }
        let time = Self.start + .milliseconds(Int64(minute * 60_000) + Int64(random.unit() * 59_000))
        return Person(
            id: .version7(at: time, using: &random),
            region: region,
            provider: provider,
            minute: minute,
            approvedAfter: isApproved ? 8 + 22 * exp(0.95 * random.normal()) : nil
        )
    }

    /// A whole number with this mean.
    private mutating func count(_ mean: Double) -> Int {
        Int(mean) + (random.unit() < mean - mean.rounded(.down) ? 1 : 0)
    }

    private mutating func choose(
        _ router: Router,
        _ region: String,
        _ signal: inout SignalRouter,
        _ routes: TenantRoutes
    ) -> Int {
        switch router {
        case .first: return 0
        case .equal: return random.below(Self.providers.count)
        case .signal: return signal.choose(region, using: &random)
        case .adaptive:
            let shares = routes.shares(in: region)
            var ticket = random.below(shares.reduce(0) { $0 + $1.share })
            return shares.firstIndex { share in
                ticket -= share.share
                return ticket < 0
            } ?? 0
        }
    }

    /// The fleet's reader for one tenant, fed once a minute.
    struct TenantRoutes {
        let route: AdaptiveRoute
        let prices: [String: Money]
        var evidence = RouteEvidence()
        var silent = SilentRoutes()
        private var known: [String: [RouteShare]] = [:]

        init(route: AdaptiveRoute, prices: [String: Money]) {
            self.route = route
            self.prices = prices
        }

        func shares(in region: String) -> [RouteShare] {
            known[region]
                ?? route.providers.map {
                    RouteShare(provider: $0, share: 1, conversion: 0, deviation: 0, observations: 0)
                }
        }

        mutating func take(
            _ slices: [[Person]],
            _ minute: Int,
            _ knowledge: Knowledge,
            at now: Timestamp
        ) {
            let second = Double(minute + 1) * 60
            var counts = ConversionCounts()
            // Ages in whole minutes: the last slice is read first, then those of one, two, four and ten minutes.
            for (age, steps) in [(nil, 0), (2, 1), (3, 2), (4, 4), (5, 10)] as [(Int?, Int)] where minute >= steps {
                for person in slices[minute - steps] {
                    let sample = person.sample(at: second)
                    silent.read(sample, age: age, isExplained: false, by: knowledge)
                    if age == 5 { counts.add(sample, of: "t") }
                }
            }
            evidence.add(counts)
        }

        mutating func judge(by knowledge: Knowledge, at now: Timestamp) -> [SilentRoutes.Change] {
            let changes = silent.judge(at: now, by: knowledge) { _ in true }
            if now.microseconds / 60_000_000 % 5 == 0 || !changes.isEmpty {
                evidence.forget(at: now)
                let rule = ShareRule(route, evidence, at: now)
                for region in knowledge.perDay.keys {
                    known[region] = rule.shares(
                        in: region,
                        prices: prices,
                        silent: silent.silent(in: region, at: now)
                    )
                }
            }
            return changes
        }
    }
}

/// Signal's router: the highest draw of Beta distributions over the attempts of one day, renewed every five minutes.
struct SignalRouter {
    private struct Sum {
        var approved = 0.0
        var failed = 0.0
    }

    /// Sums of five minutes by region and provider.
    private var steps: [[String: [Sum]]] = []
    private var current: [String: [Sum]] = [:]
    private var day: [String: [Sum]] = [:]

    mutating func step(_ minute: Int, _ attempts: [(region: String, provider: Int, isApproved: Bool)]) {
        for attempt in attempts {
            var sums = current[attempt.region] ?? Array(repeating: Sum(), count: 3)
            if attempt.isApproved { sums[attempt.provider].approved += 1 } else { sums[attempt.provider].failed += 1 }
            current[attempt.region] = sums
        }
        guard minute % 5 == 4 else { return }
        add(current, 1)
        steps.append(current)
        current = [:]
        if steps.count > 288 { add(steps.removeFirst(), -1) }
    }

    private mutating func add(_ step: [String: [Sum]], _ sign: Double) {
        for (region, sums) in step {
            let old = day[region] ?? Array(repeating: Sum(), count: 3)
            day[region] = zip(old, sums).map {
                Sum(approved: $0.approved + sign * $1.approved, failed: $0.failed + sign * $1.failed)
            }
        }
    }

    func choose(_ region: String, using random: inout TestSeed) -> Int {
        let sums = day[region] ?? Array(repeating: Sum(), count: 3)
        let prices = RouteSimulation.providers.map { Double(RouteSimulation.prices[$0]?.micros ?? 1) }
        let dearest = prices.max() ?? 1
        let draws = sums.indices.map { index in
            let (approved, failed) = (sums[index].approved, sums[index].failed)
            let bonus = log2(dearest / prices[index]) * 0.05 * (approved + failed)
            return random.beta(1 + min(approved + bonus, approved + failed), 1 + max(failed - bonus, 0))
        }
        return draws.indices.max { draws[$0] < draws[$1] } ?? 0
    }
}

extension TestSeed {
    /// A number of a Beta distribution whose parameters are at least 1.
    fileprivate mutating func beta(_ one: Double, _ other: Double) -> Double {
        let (left, right) = (gamma(one), gamma(other))
        return left / (left + right)
    }

    /// A number of the gamma distribution by Marsaglia and Tsang's method, of a shape of at least 1.
    private mutating func gamma(_ shape: Double) -> Double {
        let d = shape - 1 / 3
        let c = 1 / sqrt(9 * d)
        while true {
            let x = normal()
            let v = pow(1 + c * x, 3)
            guard v > 0 else { continue }
            if log(max(unit(), 1e-300)) < 0.5 * x * x + d - d * v + d * log(v) { return d * v }
        }
    }
}
