// SPDX-License-Identifier: Apache-2.0

import Formats
import TestSupport
import Testing
import Verification

@testable import CodeCourier

@Suite struct RouteOutputTests {
    private static let hour = Timestamp.test.hour

    private static let policy: Policy = {
        let route = Route.adaptive(AdaptiveRoute(providers: ["main", "backup"]))
        let policy = Policy.test { $0.routes = Routes(fallback: route) }
        return Policy(
            version: policy.version,
            tenants: policy.tenants,
            prices: PriceTable(
                currency: "USD",
                prices: [.init(provider: "main", Money(micros: 50_000), per: .segment)]
            )
        )
    }()

    @Test func `shares are explained by region, provider, price and reason`() {
        func share(_ provider: String, _ share: Int, silent: Bool = false) -> RouteShare {
            RouteShare(
                provider: provider,
                share: share,
                conversion: 0.712,
                deviation: 0.0104,
                observations: 1234.4,
                silence: silent ? .init(since: .test, until: .test + .seconds(900)) : nil
            )
        }
        let shares = RouteShares([
            .init(tenant: "default", region: "DE"): [share("main", 9900), share("backup", 100)],
            .init(tenant: "default", region: ""): [share("main", 50, silent: true), share("backup", 9950)],
        ])
        let output = RouteShareOutput(shares: shares, policy: Self.policy)
        #expect(output.lines.count == 5)
        #expect(output.lines[1].hasPrefix("default  *       main "))
        #expect(output.lines[1].contains("silent until \((Timestamp.test + .seconds(900)).rfc3339)"))
        let line = output.lines[3]
        #expect(line.contains("99.0 %  71.2 ± 1.0 %") && line.contains("1,234") && line.contains("0.05 USD"))
        #expect(line.hasSuffix("converts best for its price"))
        #expect(output.lines[4].contains(" none ") && output.lines[4].hasSuffix("this much to notice a change"))
        let json = String(decoding: output.json, as: UTF8.self)
        #expect(json.contains(#""region":"*","provider":"main","share":0.005"#))
        let one = RouteShareOutput(shares: shares, policy: Self.policy, region: "DE")
        #expect(one.lines.count == 3)
        let none = RouteShareOutput(shares: shares, policy: Self.policy, tenant: "shop")
        #expect(none.lines == [RouteShareOutput.empty])
    }

    @Test func `without observations the price alone is the reason`() {
        let share = RouteShare(provider: "main", share: 5000, conversion: 0.65, deviation: 0.1, observations: 0)
        let shares = RouteShares([.init(tenant: "default", region: "DE"): [share]])
        let output = RouteShareOutput(shares: shares, policy: Self.policy)
        #expect(output.lines[1].hasSuffix("fewer than 20 codes approved: the price alone counts"))
    }

    @Test func `a replay shares each hour by the hours before it`() throws {
        func counts(_ hours: Range<Int>) -> ConversionCounts {
            var groups: [ConversionCounts.Group: ConversionCounts.Count] = [:]
            for hour in hours {
                for (provider, firsts, approved) in [("main", 100, 80), ("backup", 100, 20)] {
                    var count = ConversionCounts.Count()
                    (count.firsts, count.firstsApproved) = (firsts, approved)
                    let time = Self.hour + .seconds(3600 * hour)
                    groups[.init(hour: time, tenant: "default", region: "DE", provider: provider, isConfirmed: false)] =
                        count
                }
            }
            return ConversionCounts(groups)
        }
        let replay = RouteReplay(counts(0..<10), policy: Self.policy, since: Self.hour)
        #expect(replay.hours == 10)
        let main = try #require(replay.rows.first { $0.provider == "main" })
        let backup = try #require(replay.rows.first { $0.provider == "backup" })
        #expect(main.messages == 1000 && main.approved == 800)
        // The first hour is shared alike, all later ones go to the better provider but for the floor.
        #expect(abs(main.shared - 1880) < 40 && abs(main.shared + backup.shared - 2000) < 1)
        let line = try #require(replay.lines.first { $0.contains("main") })
        #expect(line.contains("1,000") && line.contains("80.0 %"))
        // Verifications before the start are evidence and no part of the sums.
        let later = RouteReplay(counts(0..<10), policy: Self.policy, since: Self.hour + .seconds(5 * 3600))
        #expect(later.hours == 5 && later.rows.first { $0.provider == "main" }?.messages == 500)
        #expect(later.rows.first { $0.provider == "main" }?.shared ?? 0 > 970)
        let none = RouteReplay(counts(0..<10), policy: .test(), since: Self.hour)
        #expect(none.lines == [RouteReplay.empty])
    }
}
