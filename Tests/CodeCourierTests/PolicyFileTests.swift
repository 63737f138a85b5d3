// SPDX-License-Identifier: Apache-2.0

import Formats
import Testing
import Verification

@testable import CodeCourier

@Suite("Policy file")
struct PolicyFileTests {
    private func region(_ code: String) throws -> Region {
        try #require(Region(code))
    }

    private func parse(_ text: String, providers: [String: Channel]? = nil) throws -> Policy {
        try PolicyFile.parse(text, file: "policy.yaml", providers: providers).get()
    }

    /// A tenant with only the required keys, and `lines`.
    private func tenant(_ lines: String, regions: String = "{ allowByDefault: {} }") throws -> TenantPolicy {
        let text = """
            version: "1"
            tenants:
              default:
                appName: Acme
                regions: \(regions)
                routes: { default: [main] }
                \(lines)
            """
        return try #require(try parse(text).tenants["default"])
    }

    @Test func `the documented example loads`() throws {
        let policy = try parse(ExampleFiles.policy, providers: PolicyFaultTests.providers)
        #expect(policy.version == "2026-11-20.1")
        let allowed = Set(try ["US", "GB", "DE", "FR", "IN"].map(region))
        let number = try #require(PhoneNumber("+16505550123"))
        let until = Timestamp(microseconds: 1_798_761_600_000_000)
        let expected = TenantPolicy(
            appName: "Acme",
            defaultLanguage: "en",
            regions: RegionPolicy(.allowlistOnly(allowed: allowed), confirmedOnly: [try region("IN")]),
            purposeRegions: [.mfaSignIn: RegionPolicy(.allowByDefault(disallowed: []))],
            code: CodePolicy(length: 6, validity: .seconds(600), maxChecks: 5),
            resend: ResendPolicy(
                windows: [.seconds(60), .seconds(120), .seconds(300), .seconds(600)],
                sameCodeWhileLeft: .seconds(120)
            ),
            voip: .record,
            appVerification: .on(required: false, minimumScore: 0.5),
            limits: LimitPolicy(),
            testNumbers: [TestNumber(number: number, code: "654321", until: until)],
            emailLinks: EmailLinkPolicy(authorizedDomains: ["example.com"], validity: .seconds(1200)),
            routes: Routes(fallback: ["main", "backup"], regions: [try region("US"): ["main"]])
        )
        #expect(policy.tenants == ["default": expected])
    }

    @Test func `what is left out has its default`() throws {
        let expected = TenantPolicy(
            appName: "Acme",
            regions: RegionPolicy(.allowByDefault(disallowed: [])),
            routes: Routes(fallback: ["main"])
        )
        #expect(try tenant("") == expected)
    }

    @Test func `every key of the brake is read`() throws {
        let written = """
            brake:
                  mode: enforce
                  scopes: { ip: off, range: record }
                  regions: { US: off, XX: enforce }
                  action: refuse
                  trustedScore: 0.9
                  sensitivity: 1.5
                  minimumApprovals: 50
                  block: { first: 2m, longest: 1h }
                  allow: { cidrs: [203.0.113.0/24, "2001:db8::/32"], prefixes: ["+4479110012"] }
            """
        var rules = BrakeRules()
        (rules.sensitivity, rules.firstBlock, rules.longestBlock) = (1.5, .seconds(120), .seconds(3600))
        let expected = BrakePolicy(
            mode: .enforce,
            scopes: [.ip: .off, .range: .record],
            regions: [try region("US"): .off, .unknown: .enforce],
            trustedScore: 0.9,
            minimumApprovals: 50,
            rules: rules,
            allowedNetworks: try ["203.0.113.0/24", "2001:db8::/32"].map { try #require(IPNetwork($0)) },
            allowedPrefixes: ["+4479110012"]
        )
        let policy = try tenant(written).brake
        #expect(policy == expected)
        #expect(policy.mode(of: .prefix, in: try region("DE")) == .enforce)
        #expect(policy.mode(of: .ip, in: try region("DE")) == .off)
        #expect(policy.mode(of: .prefix, in: try region("US")) == .off)
        #expect(policy.mode(of: .ip, in: .unknown) == .enforce)
    }

    @Test func `without the key the brake only records`() throws {
        let policy = try tenant("").brake
        #expect(policy == BrakePolicy() && policy.mode(of: .region, in: .unknown) == .record)
        #expect(try tenant("brake: { mode: false }").brake.mode == .off)
    }

    @Test(arguments: [("2026-11-20", "2026-11-20"), ("1.10", "1.10"), ("'7'", "7"), ("true", "true")])
    func `a version counts as it is written`(written: String, version: String) throws {
        let text = ExampleFiles.policy.replacing("\"2026-11-20.1\"", with: written)
        #expect(try parse(text).version == version)
    }

    @Test func `NO is Norway, in lists and as a key`() throws {
        let norway = try region("NO")
        let policy = try tenant(
            "routes: { default: [main], regions: { NO: [backup] } }".replacing("routes", with: "purposes: {} #"),
            regions: "{ allowlistOnly: { allowedRegions: [NO, SE] }, confirmedOnlyRegions: [NO] }"
        )
        #expect(policy.regions.confirmedOnly == [norway])
        #expect(policy.regions.base == .allowlistOnly(allowed: [norway, try region("SE")]))
        let routed = ExampleFiles.policy.replacing("{ US: [main] }", with: "{ NO: [backup] }")
        #expect(try parse(routed).tenants["default"]?.routes.regions == [norway: ["backup"]])
    }

    @Test func `a route is in order or by weight, and every channel has its own`() throws {
        let text = """
            { default: [{ provider: main, weight: 70 }, { provider: backup, weight: 30 }], \
            regions: { US: [backup] }, email: [mailer], apns: [push] }
            """
        let tenant = try routed(text)
        let us = try region("US")
        let weighted = Route.weighted([.init(provider: "main", weight: 70), .init(provider: "backup", weight: 30)])
        #expect(
            tenant.routes == Routes(fallback: weighted, regions: [us: ["backup"]], email: ["mailer"], push: ["push"])
        )
        #expect(tenant.routes.text == "main 70, backup 30; US: backup; email: mailer; apns: push")
    }

    @Test func `an adaptive route has its providers, and its rules have defaults`() throws {
        let tenant = try routed(
            "{ default: { adaptive: [main, backup] }, regions: { US: { adaptive: [backup, main], "
                + "costPerDoubling: 0.1, floor: 2, halfLife: 12h } } }"
        )
        let us = try region("US")
        let own = AdaptiveRoute(
            providers: ["backup", "main"],
            costPerDoubling: 0.1,
            floor: 2,
            halfLife: .seconds(12 * 3600)
        )
        let standard = Route.adaptive(AdaptiveRoute(providers: ["main", "backup"]))
        #expect(tenant.routes == Routes(fallback: standard, regions: [us: .adaptive(own)]))
        #expect(
            tenant.routes.text == "adaptive main, backup (2x the price for 5 points, floor 1 %, half-life 6h); "
                + "US: adaptive backup, main (2x the price for 10 points, floor 2 %, half-life 12h)"
        )
    }

    @Test func `a tenant that sends no text messages needs no route for them`() throws {
        #expect(try routed("{ default: [main], onOptOut: next }").routes.onOptOut == .next)
        #expect(try routed("{ default: [main] }").routes.onOptOut == .stop)
        #expect(try routed("{ email: [mailer] }").routes == Routes(fallback: [], email: ["mailer"]))
    }

    private func routed(_ routes: String) throws -> TenantPolicy {
        let start = try #require(ExampleFiles.policy.firstRange(of: "routes:"))
        let policy = try parse(
            ExampleFiles.policy[..<start.lowerBound] + "routes: \(routes)",
            providers: PolicyFaultTests.providers
        )
        return try #require(policy.tenants["default"])
    }

    @Test(arguments: ["off", "Off", "false", "\"off\""])
    func `app verification can be switched off`(text: String) throws {
        #expect(try tenant("appVerification: \(text)").appVerification == .off)
    }

    @Test func `each value that is given counts`() throws {
        let lines = """
            defaultLanguage: pt-BR
                numberTypes: { voip: refuse }
                appVerification: { required: true, minimumScore: 1 }
                code: { length: 4, validity: 1h, maxChecks: 1, allowShortCodes: true, allowLongValidity: true }
                resend: { windows: [500ms], sameCodeWhileLeft: 0s }
                limits: { perRecipient: [{ count: 1, per: 2s }], perIP: [], perSubject: [{ count: 4, per: 1h }], perDevice: [{ count: 5, per: 1m }], perTenant: [{ count: 3, per: 24h }] }
                testNumbers: [{ number: +16505550123, code: 012345, until: 2027-01-01T00:00:00Z }, { number: "+447700900123", code: "000000", fault: opted_out }]
                emailLinks: { authorizedDomains: [a.example, b.example], validity: 5m }
            """
        let policy = try tenant(lines)
        #expect(policy.defaultLanguage == "pt-BR")
        #expect(policy.voip == .refuse)
        #expect(policy.appVerification == .on(required: true, minimumScore: 1))
        #expect(policy.code == CodePolicy(length: 4, validity: .seconds(3600), maxChecks: 1))
        #expect(policy.resend == ResendPolicy(windows: [.milliseconds(500)], sameCodeWhileLeft: .zero))
        #expect(policy.limits.perRecipient == [RateLimit(count: 1, per: .seconds(2))])
        #expect(policy.limits.perIP.isEmpty)
        #expect(policy.limits.perSubject == [RateLimit(count: 4, per: .seconds(3600))])
        #expect(policy.limits.perDevice == [RateLimit(count: 5, per: .seconds(60))])
        #expect(policy.limits.perTenant == [RateLimit(count: 3, per: .seconds(86_400))])
        #expect(policy.testNumbers.map(\.code) == ["012345", "000000"])
        #expect(policy.testNumbers.map(\.until) == [Timestamp(microseconds: 1_798_761_600_000_000), nil])
        #expect(policy.emailLinks.authorizedDomains == ["a.example", "b.example"])
        #expect(policy.emailLinks.validity == .seconds(300))
    }

    @Test(arguments: [
        ("{}", AutofillPolicy()), ("{ domains: [], androidAppHashes: [] }", AutofillPolicy()),
        (
            "{ domains: [Example.com, b.example], androidAppHashes: [FA+9qCX9VSu, fa+9qcx9vsu] }",
            AutofillPolicy(domains: ["example.com", "b.example"], androidAppHashes: ["FA+9qCX9VSu", "fa+9qcx9vsu"])
        ),
        ("{ androidAppHashes: [12345678901] }", AutofillPolicy(androidAppHashes: ["12345678901"])),
    ])
    func `autofill names sites and apps, none in a list that is empty or left out`(
        text: String,
        expected: AutofillPolicy
    ) throws {
        #expect(try tenant("autofill: \(text)").autofill == expected)
    }

    @Test func `with a short validity the same code is kept for half of it by default`() throws {
        #expect(try tenant("code: { validity: 1m }").resend.sameCodeWhileLeft == .seconds(30))
    }

    @Test func `a validity shorter than sameCodeWhileLeft lets every message have a new code`() throws {
        let policy = try tenant("code: { validity: 5s }\n    resend: { windows: [1s], sameCodeWhileLeft: 2m }")
        #expect(policy.code.validity == .seconds(5) && policy.resend.sameCodeWhileLeft == .seconds(120))
    }

    @Test func `a purpose may have a rule of its own`() throws {
        let policy = try tenant(
            "purposes: { sign_up: { regions: { allowlistOnly: { allowedRegions: [DE] } } } }",
            regions: "{ allowByDefault: { disallowedRegions: [DE] } }"
        )
        #expect(policy.regions(for: .signUp).base == .allowlistOnly(allowed: [try region("DE")]))
        #expect(policy.regions(for: .signIn).base == .allowByDefault(disallowed: [try region("DE")]))
    }

    @Test func `lists may name what belongs to no region`() throws {
        let closed = try tenant("", regions: "{ allowlistOnly: { allowedRegions: [US, 001, XX] } }").regions
        #expect(closed.base == .allowlistOnly(allowed: [try region("US"), .international, .unknown]))
        let open = try tenant(
            "",
            regions:
                "{ allowByDefault: { disallowedRegions: [XX], allowedRegions: [\"001\"] }, confirmedOnlyRegions: [IN] }"
        ).regions
        #expect(open.base == .allowByDefault(disallowed: [.unknown]) && open.allowedBeyondRegions == [.international])
        let careful = try tenant("", regions: "{ allowByDefault: {}, confirmedOnlyRegions: [001] }").regions
        #expect(careful.confirmedOnly == [.international])
    }

    @Test func `the known regions are those of ISO 3166 and three more`() throws {
        #expect(RegionCodes.known.count == 252)
        for code in ["US", "NO", "XK", "AC", "TA", "AX"] { #expect(RegionCodes.known.contains(try region(code))) }
        for code in ["XX", "ZZ", "UK", "EU", "SU"] { #expect(!RegionCodes.known.contains(try region(code))) }
    }
}
