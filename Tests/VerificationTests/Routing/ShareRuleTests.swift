// SPDX-License-Identifier: Apache-2.0

import Formats
import TestTools
import Testing

@testable import Verification

@Suite struct ShareRuleTests {
    private static let now = Timestamp(microseconds: 1_700_000_000_000_000)

    private func evidence(
        _ counts: [(String, String, Int, Int)],
        isConfirmed: Bool = false,
        hoursAgo: Int = 1
    ) -> RouteEvidence {
        var groups: [ConversionCounts.Group: ConversionCounts.Count] = [:]
        for (region, provider, messages, approved) in counts {
            var count = ConversionCounts.Count()
            count.firsts = messages
            count.firstsApproved = approved
            let group = ConversionCounts.Group(
                hour: (Self.now - .seconds(3600 * hoursAgo)).hour,
                tenant: "t",
                region: region,
                provider: provider,
                isConfirmed: isConfirmed
            )
            groups[group] = count
        }
        var evidence = RouteEvidence()
        evidence.add(ConversionCounts(groups))
        return evidence
    }

    private func shares(
        _ evidence: RouteEvidence,
        _ route: AdaptiveRoute = AdaptiveRoute(providers: ["a", "b", "c"]),
        in region: String? = "DE",
        prices: [String: Int64] = [:],
        silent: [String: SilentRoutes.Silence] = [:]
    ) -> [String: Int] {
        let rule = ShareRule(route, evidence, at: Self.now)
        let shares = rule.shares(in: region, prices: prices.mapValues { Money(micros: $0) }, silent: silent)
        return Dictionary(uniqueKeysWithValues: shares.map { ($0.provider, $0.share) })
    }

    @Test func `without evidence and prices all have the same share`() {
        #expect(Set(shares(RouteEvidence()).values) == [3333])
    }

    @Test func `the provider that converts best gets nearly all, and each other one the floor`() {
        let shares = shares(evidence([("DE", "a", 300, 240), ("DE", "b", 300, 150), ("DE", "c", 300, 120)]))
        #expect(shares == ["a": 9800, "b": 100, "c": 100])
    }

    @Test func `in a busy region the floor is as little as keeps ten observations`() {
        let route = AdaptiveRoute(providers: ["a", "b"], halfLife: .seconds(7 * 86_400))
        let shares = shares(evidence([("DE", "a", 99_000, 80_000), ("DE", "b", 1000, 100)]), route)
        #expect(shares == ["a": 9999, "b": 1])
        let third = self.shares(evidence([("DE", "a", 4000, 3200), ("DE", "b", 1000, 100)]), route)
        #expect(third["b"] == 20)
    }

    @Test func `a price counts by its doublings, and a missing one as the dearest`() {
        let equal = evidence([("DE", "a", 2000, 1300), ("DE", "b", 2000, 1300), ("DE", "c", 2000, 1300)])
        let shares = shares(equal, prices: ["a": 40_000, "b": 10_000])
        #expect(shares["b"] ?? 0 > 9800 && shares["a"] == shares["c"])
        // 7 points of conversion are worth more than one doubling, and less than two.
        let better = evidence([("DE", "a", 9000, 6480), ("DE", "b", 9000, 5850), ("DE", "c", 9000, 1000)])
        #expect(self.shares(better, prices: ["a": 20_000, "b": 10_000, "c": 10_000])["a"] ?? 0 > 9000)
        #expect(self.shares(better, prices: ["a": 40_000, "b": 10_000, "c": 10_000])["a"] ?? 0 <= 100)
        let free = AdaptiveRoute(providers: ["a", "b", "c"], costPerDoubling: 0)
        #expect(self.shares(better, free, prices: ["a": 400_000, "b": 1, "c": 0])["a"] ?? 0 > 9000)
    }

    @Test func `a region without evidence takes over what others have seen`() {
        let seen = evidence([("DE", "a", 500, 400), ("DE", "b", 500, 300), ("DE", "c", 500, 200)])
        for region in ["FR", nil] {
            let shares = shares(seen, in: region)
            #expect(shares["a"] ?? 0 > shares["b"] ?? 0 && shares["b"] ?? 0 > shares["c"] ?? 0)
            #expect(shares["a"] ?? 0 < 9800)
        }
    }

    @Test func `a tenant whose codes are approved elsewhere has no evidence`() {
        func approved(_ count: Int) -> RouteEvidence {
            evidence([("DE", "a", 9000, 0), ("DE", "b", 9000, count), ("DE", "c", 9000, 0)])
        }
        #expect(Set(shares(approved(19)).values) == [3333])
        #expect(shares(approved(20))["b"] ?? 0 > 3400)
        let prices: [String: Int64] = ["a": 20_000, "b": 10_000, "c": 20_000]
        let cheap = shares(approved(0), prices: prices)
        #expect(cheap["b"] ?? 0 > cheap["a"] ?? 0 && cheap["a"] ?? 0 > 1000)
    }

    @Test func `confirmed people are compared with confirmed people`() {
        // `a` has mostly confirmed people and `b` hardly any: each converts the same within its group.
        var mixed = evidence([("DE", "a", 1800, 1620), ("DE", "b", 200, 180)], isConfirmed: true)
        mixed.add(
            ConversionCounts(
                [("a", 200, 80), ("b", 1800, 720)].reduce(into: [:]) { groups, entry in
                    var count = ConversionCounts.Count()
                    (count.firsts, count.firstsApproved) = (entry.1, entry.2)
                    let hour = (Self.now - .seconds(3600)).hour
                    groups[.init(hour: hour, tenant: "t", region: "DE", provider: entry.0, isConfirmed: false)] = count
                }
            )
        )
        let shares = shares(mixed, AdaptiveRoute(providers: ["a", "b"]))
        #expect(abs((shares["a"] ?? 0) - (shares["b"] ?? 0)) < 2000, "\(shares)")
    }

    @Test func `an observation counts half after a half-life`() throws {
        let route = AdaptiveRoute(providers: ["a"], halfLife: .seconds(7200))
        func observations(_ hours: Int) throws -> Double {
            let seen = evidence([("DE", "a", 1000, 500)], hoursAgo: hours)
            let share = ShareRule(route, seen, at: Self.now.hour).shares(in: "DE").first
            return try #require(share).observations
        }
        let (young, old) = (try observations(2), try observations(4))
        #expect(abs(young / old - 2) < 1e-9)
    }

    @Test func `a silent provider gets a two-hundredth, and the rest its share`() {
        let silence = SilentRoutes.Silence(since: Self.now, until: Self.now + .seconds(900))
        let best = evidence([("DE", "a", 300, 240), ("DE", "b", 300, 170), ("DE", "c", 300, 90)])
        #expect(shares(best, silent: ["a": silence]) == ["a": 50, "b": 9850, "c": 100])
    }

    @Test func `whatever the evidence, shares sum to the whole, keep their floor, and rise with approvals`() {
        var random = TestSeed("shares")
        for _ in 0..<300 {
            var counts: [(String, String, Int, Int)] = []
            for region in ["DE", "FR"] {
                for provider in ["a", "b", "c"] {
                    let messages = random.below(random.pick([2, 50, 5000]))
                    counts.append((region, provider, messages, random.below(messages + 1)))
                }
            }
            let route = AdaptiveRoute(
                providers: ["a", "b", "c"],
                costPerDoubling: Double(random.below(20)) / 100,
                floor: random.below(6)
            )
            let prices = ["a": Int64(random.below(90_000)), "b": Int64(random.below(90_000))]
            let before = shares(evidence(counts), route, prices: prices)
            #expect(abs(before.values.reduce(0, +) - ShareRule.whole) <= 3)
            // Ten of the region's messages at most, each of full weight.
            let messages = counts.reduce(0) { $1.0 == "DE" ? $0 + $1.2 : $0 }
            let least = min(100 * route.floor, 100_000 / max(messages, 1))
            #expect(before.values.allSatisfy { $0 >= max(1, least - 1) })
            // Below, the evidence of all says nothing, and more of it tells them apart.
            guard counts.reduce(0, { $0 + $1.3 }) >= 2 * ShareRule.leastApprovals else { continue }
            var free = route
            free.floor = 0
            let few = shares(evidence(counts), free, prices: prices)
            counts[0].2 += 40
            counts[0].3 += 40
            let more = shares(evidence(counts), free, prices: prices)
            #expect(more["a"] ?? 0 >= (few["a"] ?? 0) - 1, "\(counts)")
        }
    }
}
