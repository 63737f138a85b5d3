// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing
import Verification

@Suite struct RegionPolicyTests {
    private static func regions(_ codes: String...) -> Set<Region> { Set(codes.compactMap { Region($0) }) }

    private static func facts(_ region: String, _ candidates: String...) -> NumberFacts {
        NumberFacts(
            region: Region(region) ?? .unknown,
            candidates: candidates.compactMap { Region($0) },
            isValid: true,
            type: .mobile
        )
    }

    struct Case: Sendable {
        let policy: RegionPolicy
        let facts: NumberFacts
        let isConfirmed: Bool
        let refusal: RejectionReason?

        init(_ policy: RegionPolicy, _ facts: NumberFacts, confirmed: Bool = false, _ refusal: RejectionReason?) {
            self.policy = policy
            self.facts = facts
            isConfirmed = confirmed
            self.refusal = refusal
        }
    }

    static let open = RegionPolicy(.allowByDefault(disallowed: regions("RU")))
    static let listed = RegionPolicy(.allowlistOnly(allowed: regions("US", "DE", "IN")), confirmedOnly: regions("IN"))
    static let careful = RegionPolicy(.allowByDefault(disallowed: regions("RU")), confirmedOnly: regions("IN", "RU"))
    static let everything = RegionPolicy(.allowByDefault(disallowed: []))
    static let nothing = RegionPolicy(.allowlistOnly(allowed: []))

    static let cases: [Case] = [
        Case(open, facts("DE", "DE"), nil), Case(open, facts("RU", "RU"), .regionNotAllowed),
        Case(open, facts("RU", "RU"), confirmed: true, .regionNotAllowed), Case(open, facts("XX"), .regionNotAllowed),
        Case(open, facts("XX", "KZ", "RU"), .regionNotAllowed), Case(open, facts("XX", "GG", "JE"), nil),
        Case(listed, facts("DE", "DE"), nil), Case(listed, facts("FR", "FR"), .regionNotAllowed),
        Case(listed, facts("XX"), .regionNotAllowed), Case(listed, facts("XX"), confirmed: true, .regionNotAllowed),
        Case(listed, facts("XX", "US", "DE"), nil), Case(listed, facts("XX", "CA", "US"), .regionNotAllowed),
        Case(listed, facts("IN", "IN"), .regionConfirmedOnly), Case(listed, facts("IN", "IN"), confirmed: true, nil),
        Case(listed, facts("XX", "DE", "IN"), .regionConfirmedOnly),
        Case(listed, facts("XX", "DE", "IN"), confirmed: true, nil),
        Case(careful, facts("RU", "RU"), confirmed: true, .regionNotAllowed),
        Case(careful, facts("RU", "RU"), .regionNotAllowed), Case(careful, facts("IN"), .regionConfirmedOnly),
        Case(everything, facts("XX"), .regionNotAllowed), Case(everything, facts("RU", "RU"), nil),
        Case(nothing, facts("US", "US"), confirmed: true, .regionNotAllowed),
    ]

    @Test(arguments: cases.indices)
    func `a region is let through or refused by its list`(index: Int) {
        let row = Self.cases[index]
        #expect(row.policy.refusal(of: row.facts, confirmed: row.isConfirmed)?.reason == row.refusal)
    }

    /// A number of a satellite network, and a number that belongs to no plan.
    private static let satellite = facts("XX")
    private static let unknown = NumberFacts(region: .unknown, candidates: [], isValid: false, type: .unknown)

    @Test func `what belongs to no region is refused by default, and a list may name it`() {
        func reason(_ policy: RegionPolicy, _ facts: NumberFacts, confirmed: Bool = false) -> String {
            policy.refusal(of: facts, confirmed: confirmed).map { "\($0.reason.rawValue) \($0.rule)" } ?? "sent"
        }
        #expect(reason(Self.everything, Self.satellite) == "region_not_allowed regions.001")
        #expect(reason(Self.everything, Self.satellite, confirmed: true) == "region_not_allowed regions.001")
        #expect(reason(Self.everything, Self.unknown) == "region_not_allowed regions.XX")
        #expect(reason(Self.listed, Self.satellite) == "region_not_allowed regions.001")
        for name in [Region.international, .unknown] {
            let list = RegionPolicy(.allowlistOnly(allowed: [name]))
            #expect(reason(list, Self.satellite) == "sent")
            #expect(reason(list, Self.unknown) == (name == .unknown ? "sent" : "region_not_allowed regions.XX"))
            var open = RegionPolicy(.allowByDefault(disallowed: []), allowedBeyondRegions: [name])
            #expect(reason(open, Self.satellite) == "sent")
            open.base = .allowByDefault(disallowed: [name])
            open.allowedBeyondRegions = []
            #expect(reason(open, Self.satellite) == "region_not_allowed regions")
            let careful = RegionPolicy(.allowByDefault(disallowed: []), confirmedOnly: [name])
            #expect(reason(careful, Self.satellite) == "region_confirmed_only regions")
            #expect(reason(careful, Self.satellite, confirmed: true) == "sent")
        }
    }

    @Test(arguments: [
        ("GP", "MF"), ("GP", "BL"), ("MA", "EH"), ("NO", "SJ"), ("FI", "AX"), ("AU", "CC"), ("AU", "CX"), ("IT", "VA"),
    ])
    func `a rule on a region whose mobiles are its neighbour's counts for both`(shown: String, named: String) throws {
        let region = try #require(Region(named))
        let number = Self.facts(shown, shown)
        let closed = RegionPolicy(.allowByDefault(disallowed: [region]))
        #expect(closed.refusal(of: number, confirmed: true)?.reason == .regionNotAllowed)
        #expect(RegionPolicy(.allowlistOnly(allowed: [region])).refusal(of: number, confirmed: false) == nil)
        let shownAlone = RegionPolicy(.allowlistOnly(allowed: Self.regions(shown)))
        #expect(shownAlone.refusal(of: number, confirmed: false) == nil)
        let careful = RegionPolicy(.allowByDefault(disallowed: []), confirmedOnly: [region])
        #expect(careful.refusal(of: number, confirmed: false)?.reason == .regionConfirmedOnly)
        #expect(careful.refusal(of: number, confirmed: true) == nil)
        #expect(region.regionOfItsMobiles.code == shown)
        #expect(closed.refusal(of: Self.facts("DE", "DE"), confirmed: false) == nil)
    }

    @Test func `a purpose's own rule replaces the tenant's`() throws {
        let tenant = TenantPolicy(
            appName: "Acme",
            regions: Self.nothing,
            purposeRegions: [.mfaSignIn: Self.everything],
            routes: Routes(fallback: ["main"])
        )
        #expect(tenant.regions(for: .mfaSignIn) == Self.everything)
        #expect(tenant.regions(for: .signIn) == Self.nothing)

        var tables = DecisionTables { $0.purposeRegions = [.mfaSignIn: Self.nothing] }
        #expect(tables.intake(.request(id: "r1", at: tables.now)).sends.count == 1)
        let factor = InboundRecord.request(
            id: "r2",
            purpose: "mfa_sign_in",
            offset: 1,
            at: tables.now,
            more: #","subject":"u1""#
        )
        #expect(tables.intake(factor).events.first?.reason == "region_not_allowed")
    }

    @Test(arguments: ["DE", "XX", "ZZ"])
    func `a region is two capital letters`(code: String) {
        #expect(Region(code)?.code == code)
    }

    @Test(arguments: ["", "D", "de", "DEU", "D1", "Ä", "ÄÖ", "D\u{0}", " DE"])
    func `what is no region code is nil`(code: String) {
        #expect(Region(code) == nil)
    }
}

@Suite struct RegionRouteTests {
    @Test func `a region's own route replaces the default one`() throws {
        let us = try #require(Region("US"))
        let de = try #require(Region("DE"))
        let routes = Routes(fallback: ["main", "backup"], regions: [us: ["local"], de: []], email: ["mailer"])
        #expect(routes.route(for: .sms, region: us) == ["local"])
        #expect(routes.route(for: .sms, region: de).isEmpty)
        #expect(routes.route(for: .sms, region: .unknown) == ["main", "backup"])
        #expect(routes.route(for: .email, region: us) == ["mailer"])
        #expect(routes.route(for: .apns, region: us).isEmpty)
    }

    @Test func `every send is followed by its window and the last window repeats`() {
        let policy = ResendPolicy(windows: [.seconds(60), .seconds(120), .seconds(300)])
        #expect(policy.maxSends == 4)
        #expect((1...5).map { policy.window(afterSend: $0) } == [60, 120, 300, 300, 300].map { .seconds($0) })
        #expect(policy.window(afterSend: 0) == .seconds(60))
        #expect(policy.window(afterSend: .max) == .seconds(300))
    }

    @Test func `without windows there is one send`() {
        let policy = ResendPolicy(windows: [])
        #expect(policy.maxSends == 1)
        #expect(policy.window(afterSend: 1) == .zero)
    }

    @Test func `the default windows allow five sends`() {
        #expect(ResendPolicy().windows == [60, 120, 300, 600].map { .seconds($0) })
        #expect(ResendPolicy().maxSends == 5)
        #expect(ResendPolicy().sameCodeWhileLeft == .seconds(120))
        #expect(CodePolicy() == CodePolicy(length: 6, validity: .seconds(600), maxChecks: 5))
    }
}
