// SPDX-License-Identifier: Apache-2.0

import Formats
import TestSupport
import TestTools
import Testing

@testable import Verification

/// Codes of regions.
private enum RegionSample {
    static let codes = """
        AT BE BG CH CY CZ DE DK EE ES FI FR GB GR HR HU IE IS IT LT LU LV MT NL NO PL PT RO SE SI
        """.split(separator: " ").map(String.init)
}

@Suite struct TenantRoutesTests {
    private static let start = Timestamp(microseconds: 1_700_006_400_000_000)

    private static func policy(brake: BrakePolicy = BrakePolicy()) -> Policy {
        .test { tenant in
            tenant.brake = brake
            tenant.routes = Routes(fallback: .adaptive(AdaptiveRoute(providers: ["main", "backup"])))
        }
    }

    /// The fleet's reader, fed with whole verifications at each age, every 15 seconds.
    private struct Desk {
        var brakes = TenantBrakes()
        var routes = TenantRoutes()
        var shares = RouteShares()
        var second = 0
        private var random: TestSeed
        private var people: [(second: Int, sample: ConversionSample, approvedAfter: Int?)] = []

        init(_ policy: Policy, seed: UInt64 = 7) {
            random = TestSeed(seed: seed)
            brakes.follow(policy, at: TenantRoutesTests.start)
            routes.follow(policy)
            routes.learn(ConversionCounts())
        }

        var now: Timestamp { TenantRoutesTests.start + .seconds(second) }

        /// Sends by the shares in force to people who approve at a rate, or to an attacker's numbers.
        mutating func send(_ region: String, conversion: [String: Double], attack: Attack? = nil) {
            let route = AdaptiveRoute(providers: ["main", "backup"])
            let weighted = shares.weighted(.adaptive(route), tenant: "default", region: Region(region) ?? .unknown)
            let order = RouteChoice.order(route: weighted, health: [:], using: &random)
            guard let provider = order.first else { return }
            let isApproved = Double(random.below(10_000)) < 10_000 * (conversion[provider] ?? 0)
            let sample = ConversionSample(
                id: .version7(at: now + .milliseconds(Int64(random.below(14_000))), using: &random),
                region: region,
                client: attack?.client ?? Int64(random.next() >> 2),
                prefix: attack.map { $0.base + Int64(random.below($0.prefixes)) } ?? Int64(random.below(400)),
                range: attack.map { $0.base + Int64(random.below($0.ranges)) } ?? Int64(random.below(40)),
                isConfirmed: false,
                outcome: .open,
                provider: provider
            )
            people.append((second, sample, isApproved ? 9 + random.below(40) : nil))
        }

        mutating func step() -> [TenantRoutes.TenantSilence] {
            second += 15
            for age in ApprovalCurve.ages.indices.reversed() {
                let seconds = Int(ApprovalCurve.ages[age].components.seconds)
                read(people.filter { $0.second == second - 15 - seconds }, age)
            }
            read(people.filter { $0.second == second - 15 }, nil)
            people.removeAll { $0.second < second - 700 }
            _ = brakes.judge(at: now)
            guard second % 60 == 0 else { return [] }
            routes.add(brakes.counts)
            brakes.removeCounts()
            let judgement = routes.judge(at: now, by: brakes)
            if let new = judgement.shares {
                shares = new
                routes.noteStored(new)
            }
            return judgement.silences
        }

        private mutating func read(
            _ people: [(second: Int, sample: ConversionSample, approvedAfter: Int?)],
            _ age: Int?
        ) {
            let samples = people.map { person in
                let isApproved = person.approvedAfter.map { person.second + $0 <= second } ?? false
                let old = person.sample
                return ConversionSample(
                    id: old.id,
                    region: old.region,
                    client: old.client,
                    prefix: old.prefix,
                    range: old.range,
                    isConfirmed: false,
                    outcome: isApproved ? .approved : .open,
                    provider: old.provider
                )
            }
            guard !samples.isEmpty else { return }
            brakes.read(["default": samples], age: age, countedFrom: TenantRoutesTests.start)
            routes.read(["default": samples], age: age, by: brakes)
        }

        func share(_ region: String, _ provider: String) -> Int {
            shares.shares(of: "default", in: region)?.first { $0.provider == provider }?.share ?? 5000
        }
    }

    private static let honest = ["main": 0.75, "backup": 0.55]

    @Test(arguments: [true, false])
    func `shares follow what people approve, also for a tenant without a brake`(hasBrake: Bool) {
        var desk = Desk(Self.policy(brake: BrakePolicy(mode: hasBrake ? .record : .off)))
        for _ in 0..<4 * 120 {
            for _ in 0..<4 { desk.send("DE", conversion: Self.honest) }
            #expect(desk.step().isEmpty)
        }
        #expect(desk.share("DE", "main") > 9500)
        #expect(desk.share("FR", "main") > 5000, "a region without messages takes over what is known")
    }

    /// Numbers that nobody approves: one block, one range, many ranges, or one address.
    private struct Attack {
        let base: Int64
        let prefixes: Int
        let ranges: Int
        let client: Int64?

        /// Messages in 15 seconds.
        let rate: Int
        let minutes: Int

        init(base: Int64 = 77_777, prefixes: Int = 1, ranges: Int = 1, client: Int64? = nil, rate: Int, minutes: Int) {
            (self.base, self.prefixes, self.ranges) = (base, prefixes, ranges)
            (self.client, self.rate, self.minutes) = (client, rate, minutes)
        }
    }

    /// The farthest that an attack moves the share of `main` in two hours, after two hours without one.
    private func movement(_ attack: Attack, honest: [String: Double], seed: UInt64) -> (points: Double, silences: Int) {
        var desk = Desk(Self.policy(), seed: seed)
        var before = 0
        var (farthest, silences) = (0, 0)
        for step in 0..<4 * 240 {
            for _ in 0..<4 { desk.send("DE", conversion: honest) }
            if step == 4 * 120 { before = desk.share("DE", "main") }
            // The brake only records.
            if (4 * 120..<4 * (120 + attack.minutes)).contains(step) {
                for _ in 0..<attack.rate { desk.send("DE", conversion: [:], attack: attack) }
            }
            silences += desk.step().count
            if step >= 4 * 120 { farthest = max(farthest, abs(desk.share("DE", "main") - before)) }
        }
        return (Double(farthest) / 100, silences)
    }

    /// Attacks on one block of numbers and on 5,000 of them, from 2 to 4 a second beside 0.27.
    @Test(
        arguments: [
            (1, 1, 30, 20), (5000, 400, 30, 12), (5000, 400, 53, 31), (200, 40, 60, 45), (1000, 10, 30, 119),
        ]
    )
    func `an attack on a region moves no share by five points`(
        prefixes: Int,
        ranges: Int,
        rate: Int,
        minutes: Int
    ) {
        let attack = Attack(prefixes: prefixes, ranges: ranges, rate: rate, minutes: minutes)
        let (points, silences) = movement(attack, honest: Self.honest, seed: 7)
        #expect(points <= 5)
        #expect(silences == 0)
    }

    @Test func `a provider that falls silent loses its share within minutes, and gets it back`() throws {
        var desk = Desk(Self.policy())
        for _ in 0..<4 * 120 {
            for _ in 0..<4 { desk.send("DE", conversion: Self.honest) }
            _ = desk.step()
        }
        #expect(desk.share("DE", "main") > 9500)
        var found: Int?
        for step in 0..<4 * 10 {
            for _ in 0..<4 { desk.send("DE", conversion: ["main": 0, "backup": 0.55]) }
            for silence in desk.step() where silence.change.silence != nil {
                #expect(silence.change.place == .init(region: "DE", provider: "main"))
                found = found ?? step
            }
        }
        // 16 messages a minute: the verdict needs about 13 without an approval, and the curve's time.
        #expect(try #require(found) <= 4 * 6)
        #expect(desk.share("DE", "main") == ShareRule.silentShare)
        for _ in 0..<4 * 60 {
            for _ in 0..<4 { desk.send("DE", conversion: Self.honest) }
            _ = desk.step()
        }
        #expect(desk.share("DE", "main") > 5000)
    }

    @Test func `a silence goes on with the next reader, and ends with the tenant's adaptive route`() throws {
        let silence = SilentRoutes.Silence(since: Self.start, until: Self.start + .seconds(900))
        func share(_ provider: String, _ silence: SilentRoutes.Silence?) -> RouteShare {
            RouteShare(provider: provider, share: 5000, conversion: 0, deviation: 0, observations: 0, silence: silence)
        }
        let place = RouteShares.Place(tenant: "default", region: "DE")
        let stored = RouteShares([place: [share("main", silence), share("backup", nil)]])
        var routes = TenantRoutes(stored)
        let germany = try #require(Region("DE"))
        let policy = Policy.test { tenant in
            let route = Route.adaptive(AdaptiveRoute(providers: ["main", "backup"]))
            tenant.routes = Routes(fallback: ["main"], regions: [germany: route])
        }
        routes.follow(policy)
        routes.learn(ConversionCounts())
        let judgement = routes.judge(at: Self.start + .seconds(60), by: TenantBrakes())
        #expect(judgement.shares?.places[place]?.map(\.share) == [50, 9950])
        routes.follow(.test())
        #expect(routes.isEmpty && !routes.isLearned)
    }

    @Test func `shares are reported when they move by ten points, and each hour, twenty places at a time`() {
        var routes = TenantRoutes()
        routes.follow(Self.policy())
        func counts(_ hour: Int, main: Int, backup: Int) -> ConversionCounts {
            var groups: [ConversionCounts.Group: ConversionCounts.Count] = [:]
            for region in RegionSample.codes.prefix(30) {
                for (provider, approved) in [("main", main), ("backup", backup)] {
                    var count = ConversionCounts.Count()
                    (count.firsts, count.firstsApproved) = (1000, approved)
                    let time = Self.start.hour + .seconds(3600 * hour)
                    let group = ConversionCounts.Group(
                        hour: time,
                        tenant: "default",
                        region: region,
                        provider: provider,
                        isConfirmed: false
                    )
                    groups[group] = count
                }
            }
            return ConversionCounts(groups)
        }
        func reports(_ second: Int) -> Int {
            let judgement = routes.judge(at: Self.start + .seconds(second), by: TenantBrakes())
            #expect(judgement.reports.allSatisfy { $0.shares.count == 2 })
            return judgement.reports.count
        }
        routes.learn(counts(0, main: 800, backup: 400))
        // 30 regions, and all others.
        #expect([reports(0), reports(60), reports(120)] == [20, 11, 0])
        #expect(routes.judge(at: Self.start + .seconds(150), by: TenantBrakes(), isDue: false) == .init())
        // All others have no messages of their own.
        #expect([reports(3660), reports(3720), reports(3780)] == [19, 11, 0])
        routes.add(counts(1, main: 0, backup: 900))
        #expect([reports(3840), reports(3900), reports(3960)] == [20, 11, 0])
    }

    @Test func `a route without shares is drawn alike, and a new provider gets an equal part`() throws {
        let germany = try #require(Region("DE"))
        let route = Route.adaptive(AdaptiveRoute(providers: ["a", "b"]))
        let none = RouteShares().weighted(route, tenant: "t", region: germany)
        #expect(none == .weighted([.init(provider: "a", weight: 5000), .init(provider: "b", weight: 5000)]))
        let share = RouteShare(provider: "b", share: 9900, conversion: 0, deviation: 0, observations: 0)
        let shares = RouteShares([.init(tenant: "t", region: ""): [share]])
        let known = shares.weighted(route, tenant: "t", region: germany)
        #expect(known == .weighted([.init(provider: "a", weight: 5000), .init(provider: "b", weight: 9900)]))
        #expect(shares.weighted(["x", "y"], tenant: "t", region: germany) == ["x", "y"])
        #expect(route.only("b") == ["b"] && route.providers == ["a", "b"])
    }
}
