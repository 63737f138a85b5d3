// SPDX-License-Identifier: Apache-2.0

import Administration
import ArgumentParser
import TestSupport
import TestTools
import Testing
import Verification

@testable import CodeCourier

@Suite("policy diff")
struct PolicyDiffTests {
    private static func policy(_ edits: (String, String)...) throws -> Policy { try policy(edits) }

    private static func policy(_ edits: [(String, String)]) throws -> Policy {
        var text = ExampleFiles.policy
        for (old, new) in edits {
            try #require(text.contains(old), "\(old)")
            text = text.replacing(old, with: new)
        }
        return try PolicyFile.parse(text, file: "policy.yaml").get()
    }

    /// The changes from the example policy, each with its part before it.
    private static func changes(_ edits: (String, String)...) throws -> [String] {
        PolicyDiff(old: try policy(), new: try policy(edits)).changes.map { change in
            "\(change.tenant ?? "all"): \(change.part): \(change.words)"
        }
    }

    @Test func `another version, order or spelling is no change`() throws {
        #expect(try Self.changes() == [])
        let changes = try Self.changes(
            ("2026-11-20.1", "2026-11-20.2"),
            ("[US, GB, DE, FR, IN]", "[IN, FR, DE, GB, US]"),
            ("10m", "600s"),
            ("perTenant: [{ count: 1000, per: 1m }]", "perTenant: [{ count: 1000, per: 60s }]"),
            ("regions: { US: [main] }", "regions: { US: [main], DE: [main, backup] }")
        )
        #expect(changes == [])
    }

    @Test func `a budget that is lowered below what is leased tells by how much it may be exceeded`() throws {
        let (old, new) = (
            Policy.test { $0.budgets = [Self.budget(50)] }, Policy.test { $0.budgets = [Self.budget(20)] }
        )
        let key = BudgetKey(tenant: "default", name: "a")
        func notes(_ leased: Int64) -> [String?] {
            let budget = LeasedBudget(key: key, amount: Self.budget(20).amount, leased: Self.budget(leased).amount)
            return PolicyDiff(old: old, new: new, leased: [budget]).changes.map(\.note)
        }
        #expect(notes(32) == ["32.00 is leased: up to 12.00 more than the amount may be spent"])
        #expect(notes(20) == [nil] && PolicyDiff(old: old, new: new).changes.map(\.note) == [nil])
    }

    private static func budget(_ amount: Int64) -> Budget {
        Budget(name: "a", amount: Money(micros: amount * 1_000_000), currency: "USD", period: .day)
    }

    @Test func `regions are told by what becomes of them, a purpose with a list of its own for itself`() throws {
        #expect(
            try Self.changes(("[US, GB, DE, FR, IN]", "[US, GB, DE, IN, BR, MX]"), ("[IN]\n", "[IN, DE]\n")) == [
                "default: regions: DE: allowed → only confirmed recipients",
                "default: regions: FR: allowed → refused",
                "default: regions: BR, MX: refused → allowed",
            ]
        )
        #expect(
            try Self.changes(
                ("allowByDefault: { disallowedRegions: [] }", "allowByDefault: { disallowedRegions: [RU] }")
            )
                == ["default: regions, mfa_sign_in: RU: allowed → refused"]
        )
    }

    @Test func `a rule for every region is a change of many, and of the rest it says how many`() throws {
        let changes = try Self.changes(
            ("allowlistOnly: { allowedRegions: [US, GB, DE, FR, IN] }", "allowByDefault: { disallowedRegions: [RU] }")
        )
        #expect(changes.count == 1)
        let change = try #require(changes.first)
        #expect(change.hasPrefix("default: regions: AC, AD, AE,"))
        #expect(change.hasSuffix(" more: refused → allowed"), "\(change)")
    }

    @Test func `each limit is told with its span, and which way it goes`() throws {
        let changes = try Self.changes(
            ("{ count: 10, per: 1h }", "{ count: 5, per: 1h }"),
            ("{ count: 500, per: 1h }", "{ count: 600, per: 1h }"),
            ("{ count: 1000, per: 1m }", "{ count: 20000, per: 24h }"),
            ("perTenant:", "perDevice: [{ count: 3, per: 1h }]\n      perTenant:")
        )
        #expect(
            changes == [
                "default: limit per recipient: 10 in 1h → 5 in 1h (stricter)",
                "default: limit per IP: 500 in 1h → 600 in 1h (looser)",
                "default: limit per device: none → 3 in 1h (stricter)",
                "default: limit of the tenant: 1000 in 1m → none (looser)",
                "default: limit of the tenant: none → 20000 in 24h (stricter)",
            ]
        )
    }

    @Test func `routes are told by region, and who has none of his own as one`() throws {
        let changes = try Self.changes(
            ("default: [main, backup]", "default: [backup, main]"),
            ("regions: { US: [main] }", "regions: { DE: [main, backup], US: [backup] }")
        )
        #expect(
            changes == [
                "default: route: US: main → backup",
                "default: route, other regions: main, then backup → backup, then main",
            ]
        )
    }

    @Test func `a tenant that comes or goes is one change, and the other stays as it is`() throws {
        let old = try Self.policy()
        let tenant = try #require(old.tenants["default"])
        let more = Policy(version: "2", tenants: old.tenants.merging(["shop": tenant]) { first, _ in first })
        #expect(PolicyDiff(old: old, new: more).changes == [.init(tenant: "shop", part: "tenant", after: "new")])
        let change = try #require(PolicyDiff(old: more, new: old).changes.first)
        #expect(change.words == "there → none (requests are refused)")
    }

    @Test func `no number of a test is shown`() throws {
        let changes = try Self.changes(("+16505550123\", code: \"654321\"", "+16505550123\", code: \"123456\""))
        #expect(changes == ["default: test numbers: 1 → 1 (0 added, 0 removed, 1 changed)"])
    }

    /// Every property of a tenant with a change of it: one that the difference forgets would be a silent change.
    @Test func `whatever part of a tenant changes is told`() throws {
        let old = try #require(try Self.policy().tenants["default"])
        let germany = try #require(Region("DE"))
        var edits: [String: (inout TenantPolicy) -> Void] = [
            "appName": { $0.appName = "Other" },
            "defaultLanguage": { $0.defaultLanguage = "de" },
            "regions": { $0.regions = RegionPolicy(.allowlistOnly(allowed: [])) },
            "purposeRegions": { $0.purposeRegions = [:] },
            "code": { $0.code.maxChecks = 4 },
            "resend": { $0.resend.sameCodeWhileLeft = .seconds(1) },
            "voip": { $0.voip = .refuse },
            "appVerification": { $0.appVerification = .off },
            "limits": { $0.limits.perIP = [] },
            "testNumbers": { $0.testNumbers = [] },
            "emailLinks": { $0.emailLinks.authorizedDomains = [] },
            "autofill": { $0.autofill = AutofillPolicy() },
            "routes": { $0.routes.onOptOut = .next },
            "messages": { $0.messages.regions = [germany: RegionMessages(signature: "x")] },
            "brake": { $0.brake.mode = .enforce },
            "budgets": {
                $0.budgets = [Budget(name: "a", amount: Money(micros: 1), currency: "USD", period: .hour)]
            },
        ]
        for property in Mirror(reflecting: old).children.compactMap(\.label) {
            let known = edits.removeValue(forKey: property)
            let edit = try #require(known, "\(property)")
            var new = old
            edit(&new)
            #expect(new != old, "\(property)")
            #expect(!TenantDiff(old: old, new: new).changes.isEmpty, "\(property)")
            #expect(TenantDiff(old: new, new: new).changes.isEmpty, "\(property)")
        }
        #expect(edits.isEmpty)
    }

    @Test func `the parts of a tenant's parts are told, each for itself`() throws {
        let old = try #require(try Self.policy().tenants["default"])
        let germany = try #require(Region("DE"))
        let template = try #require(
            try Self.policy(
                (
                    "appName: Acme",
                    "appName: Acme\n    messages: { templates: { de: \"{code} ist dein {appName}-Code. Gültig {minutes} Min.\" } }"
                )
            ).tenants["default"]?.messages.templates["de"]
        )
        let edits: [(String, (inout TenantPolicy) -> Void)] = [
            ("code", { $0.code.length = 8 }), ("code", { $0.code.validity = .seconds(300) }),
            ("e-mail links", { $0.emailLinks.validity = .seconds(60) }),
            ("resend windows", { $0.resend.windows = [.seconds(60)] }),
            ("autofill", { $0.autofill = AutofillPolicy(domains: ["example.com"]) }),
            ("route of e-mail", { $0.routes.email = ["mailer"] }), ("route of pushes", { $0.routes.push = ["push"] }),
            ("text in de", { $0.messages.templates = ["de": template] }),
            ("text in de", { $0.messages.regions[germany] = RegionMessages(templates: ["de": template]) }),
            ("autofill", { $0.messages.regions[germany] = RegionMessages(hasAutofill: false) }),
            ("brake, ip", { $0.brake.scopes = [.ip: .enforce] }), ("brake", { $0.brake.regions = [germany: .off] }),
            ("brake, trusted score", { $0.brake.trustedScore = 0.9 }),
            ("brake, least approvals in a day", { $0.brake.minimumApprovals = 1000 }),
            ("brake, sensitivity", { $0.brake.rules.sensitivity = 2 }),
            ("brake, first block", { $0.brake.rules.firstBlock = .seconds(60) }),
            ("brake, longest block", { $0.brake.rules.longestBlock = .seconds(3600) }),
            ("brake, allowed prefixes", { $0.brake.allowedPrefixes = ["+4915"] }),
        ]
        for (part, edit) in edits {
            var new = old
            edit(&new)
            let changes = TenantDiff(old: old, new: new).changes
            #expect(changes.map(\.part) == [part])
            #expect(changes.allSatisfy { $0.before != $0.after }, "\(changes)")
        }
    }

    @Test func `the exit code tells a change from none and from a fault`() async throws {
        let folder = try ScratchFolder()
        let old = try folder.write(ExampleFiles.policy, to: "old.yaml")
        let new = try folder.write(ExampleFiles.policy.replacing("length: 6", with: "length: 8"), to: "new.yaml")
        let faulty = try folder.write("nonsense", to: "faulty.yaml")
        func exitCode(_ arguments: String...) async throws -> Int32 {
            do {
                try await PolicyDiffCommand.parse(arguments).run()
                return 0
            } catch let code as ExitCode {
                return code.rawValue
            }
        }
        #expect(try await exitCode(old, old) == 0)
        #expect(try await exitCode(old, new) == 1)
        #expect(try await exitCode(old, new, "--json") == 1)
        #expect(try await exitCode(old, faulty) == 2)
        #expect(try await exitCode(faulty, new) == 2)
    }

    @Test func `the JSON has every region and both versions`() throws {
        let new = try Self.policy(("[US, GB, DE, FR, IN]", "[US, GB, IN]"), ("2026-11-20.1", "next"))
        let json = String(decoding: PolicyDiff(old: try Self.policy(), new: new).json, as: UTF8.self)
        #expect(
            json
                == #"{"oldVersion":"2026-11-20.1","newVersion":"next","changes":[{"tenant":"default","part":"regions","#
                + #""regions":["DE","FR"],"before":"allowed","after":"refused"}]}"#
        )
    }

    @Test func `a change is told under its tenant, and no change in one line`() throws {
        let old = try Self.policy()
        let lines = PolicyDiff(old: old, new: try Self.policy(("length: 6", "length: 8"))).lines(files: ("a", "b"))
        #expect(
            lines == [
                "a: version 2026-11-20.1", "b: version 2026-11-20.1", "give the new one a version of its own", "",
                "tenant default", "  code  6 digits → 8 digits",
            ]
        )
        #expect(PolicyDiff(old: old, new: old).lines(files: ("a", "b")).last == "nothing changes for anybody")
    }
}
