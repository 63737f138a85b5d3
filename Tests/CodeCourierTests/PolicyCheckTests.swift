// SPDX-License-Identifier: Apache-2.0

import Administration
import ArgumentParser
import Formats
import PhoneNumbers
import SettingsReading
import TestSupport
import TestTools
import Testing
import Verification

@testable import CodeCourier

@Suite("policy check")
struct PolicyCheckTests {
    private let folder: ScratchFolder

    init() throws {
        folder = try ScratchFolder()
    }

    private func exitCode(_ arguments: String...) async throws -> Int32 {
        let command = try PolicyCheckCommand.parse(arguments)
        do {
            try await command.run()
            return 0
        } catch let code as ExitCode {
            return code.rawValue
        }
    }

    @Test func `a good policy is summed up`() throws {
        let policy = try PolicyFile.parse(ExampleFiles.policy, file: "policy.yaml").get()
        let lines = PolicySummary(policy: policy, now: .test).lines(file: "policy.yaml")
        let expected = [
            "policy.yaml: version 2026-11-20.1, no faults",
            "numbering plans of \(PhoneNumberDirectory.release); 0 corrections",
            "tenant default",
            "  regions               only DE, FR, GB, IN, US; only confirmed recipients in IN",
            "  regions, mfa_sign_in  all",
            "  number types          mobile; voip: record",
            "  app verification      not required, minimum score 0.5",
            "  code                  6 digits, valid 10m, 5 wrong guesses",
            "  resend                windows 1m, 2m, 5m, 10m; 5 sends in all; the same code while 2m are left",
            "  limits per recipient  2 in 10s, 10 in 1h, 20 in 24h",
            "  limits per tenant     1000 in 1m",
            "  brake                 record",
            "  brake trips           at about 19 of one ip, 15 of one prefix, 18 of one range, 31 of one region without an "
                + "approval in 1h, 65 % being usual",
            "  brake blocks          5m, doubling to 12h, then probes",
            "  routes                main, then backup; US: main",
        ]
        for line in expected { #expect(lines.contains(line), "\(line)") }
        #expect(!lines.contains("switched off"))
    }

    @Test func `a brake that enforces with too few approvals in the last day is warned of`() {
        var count = ConversionCounts.Count(verifications: 1000, approved: 0, sends: 1000, within: [0, 0, 0, 0, 0, 0])
        func line(_ approved: Int, _ change: (inout BrakePolicy) -> Void) -> String? {
            count.approved = approved
            let group = ConversionCounts.Group(
                hour: (.test - .seconds(7200)).hour,
                tenant: "default",
                region: "DE",
                provider: "",
                isConfirmed: false
            )
            let days = ["default": ConversionHistory(ConversionCounts([group: count]), at: .test)]
            let policy = Policy.test { change(&$0.brake) }
            let lines = PolicySummary(policy: policy, now: .test, days: days).lines(file: "policy.yaml")
            return lines.first { $0.hasPrefix("  default") }?.split(separator: " ").joined(separator: " ")
        }
        let enforced = "ip, prefix, range, region refuse"
        let warning = "WARNING: \(enforced) nobody below 200 and a tenth of all approved by check_code"
        #expect(line(0) { $0.mode = .enforce } == "default 1,000 0 \(warning)")
        #expect(line(199) { $0.mode = .enforce } == "default 1,000 199 \(warning)")
        #expect(line(200) { $0.mode = .enforce } == "default 1,000 200 \(enforced)")
        #expect(line(0) { $0.scopes[.ip] = .enforce }?.contains("WARNING: ip refuse nobody") == true)
        #expect(line(0) { _ in } == "default 1,000 0 the policy enforces nothing")
    }

    @Test func `a sensitivity is told with what it changes`() {
        let policy = Policy.test { $0.brake.rules.sensitivity = 2 }
        let lines = PolicySummary(policy: policy, now: .test).lines(file: "policy.yaml")
        #expect(lines.contains { $0.contains("10 of one ip, 8 of one prefix") && $0.hasSuffix("; sensitivity 2.0") })
    }

    @Test func `what an attack takes before it is stopped is told, in messages and money`() {
        let plain = Policy.test { tenant in
            tenant.routes = Routes(fallback: ["main"])
            tenant.brake.scopes = [.ip: .off, .prefix: .enforce]
            tenant.budgets = [
                Budget(name: "all", amount: Money(micros: 50_000_000), currency: "USD", period: .day),
                Budget(name: "gb", amount: Money(micros: 1_000_000), currency: "USD", period: .hour, mode: .record),
            ]
            tenant.budgets[1].regions = Region("GB").map { [$0] }
            tenant.budgets.append(
                Budget(name: "kept", amount: Money(micros: 50_000_000), currency: "USD", period: .day, reserve: 50)
            )
        }
        func lines(_ prices: PriceTable?, leased: [LeasedBudget]? = nil) -> [String] {
            let policy = Policy(version: "1", tenants: plain.tenants, prices: prices)
            return PolicySummary(policy: policy, now: .test, leased: leased).lines(file: "policy.yaml")
        }
        let prices = PriceTable(
            currency: "USD",
            prices: [
                .init(provider: "main", Money(micros: 100_000), per: .segment),
                .init(provider: "main", region: Region("DE"), Money(micros: 250_000), per: .segment),
                .init(provider: "other", Money(micros: 900_000), per: .segment),
            ]
        )
        let told = lines(prices)
        #expect(!told.contains { $0.contains("brake, one ip") })
        for line in [
            "  stopped by         messages  at 0.25 USD",
            "  brake, one prefix        15         3.75  then blocked",
            "  brake, one region        31         7.75  only recorded",
            "  budget all              200        50.00  a day",
            "  budget gb                10         1.00  an hour, only recorded",
            "  budget kept             100        25.00  a day, 50 % is left for confirmed people",
        ] { #expect(told.contains(line), "\(line)") }
        #expect(lines(nil).contains { $0.contains("cost unknown: no prices") })

        let key = BudgetKey(tenant: "default", name: "all")
        let leased = [LeasedBudget(key: key, amount: Money(micros: 50_000_000), leased: Money(micros: 60_500_000))]
        #expect(
            lines(prices, leased: leased).contains(
                "  default  all      50.00   60.50  the window may cost up to 10.50 more than the amount"
            )
        )
    }

    @Test func `a budget that pays for nothing, or for more regions than it names, is noted`() {
        let policy = Policy.test { tenant in
            tenant.budgets = [Budget(name: "a", amount: Money(micros: 1), currency: "USD", period: .day)]
            (tenant.budgets[0].channels, tenant.budgets[0].regions) = ([.email], Region("EH").map { [$0] })
        }
        let notes = PolicyNotes(policy: policy, now: .test).warnings.map(\.description)
        #expect(notes.contains { $0.hasPrefix("tenants.default.budgets: a pays for nothing: only text messages") })
        #expect(notes.contains { $0.contains("a pays for EH and MA: no mobile number tells them apart") })
    }

    @Test func `an adaptive route says what its shares rest on`() {
        let us = Region("US") ?? .unknown
        let adaptive = Route.adaptive(AdaptiveRoute(providers: ["main", "backup", "cheap"]))
        let policy = Policy.test { $0.routes = Routes(fallback: adaptive, regions: [us: adaptive]) }
        func notes(_ prices: PriceTable?) -> [String] {
            let policy = Policy(version: "1", tenants: policy.tenants, prices: prices)
            return PolicyNotes(policy: policy, now: .test).warnings.filter {
                $0.key.contains(".routes") && !$0.key.hasSuffix(".email")
            }.map(\.description)
        }
        let general =
            "tenants.default.routes: adaptive shares need 20 codes in 7d that check_code approves; else price counts"
        let none = "no provider has a price: shares follow approvals alone"
        #expect(
            notes(nil) == [
                general, "tenants.default.routes.default: \(none)", "tenants.default.routes.regions.US: \(none)",
            ]
        )
        let prices = PriceTable(
            currency: "USD",
            prices: [
                .init(provider: "main", Money(micros: 1), per: .segment),
                .init(provider: "backup", region: us, Money(micros: 1), per: .segment),
                .init(provider: "cheap", region: us, Money(micros: 1), per: .segment),
            ]
        )
        #expect(
            notes(prices) == [
                general, "tenants.default.routes.default: without a price, backup, cheap counts as the dearest",
            ]
        )
        #expect(
            PolicyNotes(policy: .test { $0.routes = Routes(fallback: ["main"]) }, now: .test).warnings
                .allSatisfy { !$0.key.hasSuffix(".routes") }
        )
    }

    @Test func `the exit code tells a policy that a worker takes from one that it refuses`() async throws {
        let good = try folder.write(ExampleFiles.policy, to: "good.yaml")
        let faulty = try folder.write(ExampleFiles.policy.replacing("US, GB", with: "US, US"), to: "faulty.yaml")
        let empty = try folder.write("", to: "empty.yaml")
        #expect(try await exitCode(good) == 0)
        #expect(try await exitCode(faulty) == 2)
        #expect(try await exitCode(empty) == 2)
        #expect(try await exitCode("\(folder.path)/missing.yaml") == 2)
    }

    @Test func `with a configuration, routes must lead to its providers; it needs neither keys nor secrets`()
        async throws
    {
        let policy = try folder.write(ExampleFiles.policy, to: "policy.yaml")
        let one = """
            providers:
              - { name: main, kind: twilio, accountSid: AC1, authTokenFile: /nowhere, from: "+15005550006" }
            """
        let two = "providers: [{ name: main, kind: log }, { name: backup, kind: log }]"
        #expect(try await exitCode(policy, "--config", try folder.write(one, to: "one.yaml")) == 2)
        #expect(try await exitCode(policy, "--config", try folder.write(two, to: "two.yaml")) == 0)
    }

    @Test(arguments: [(#"from: "+15005550006""#, Int32(0)), (#"from: "no sender, surely""#, 2), ("", 2)])
    func `with a configuration, providers need every setting that is no secret`(
        sender: String,
        code: Int32
    )
        async throws
    {
        let policy = try folder.write(ExampleFiles.policy, to: "policy.yaml")
        let provider = "kind: twilio, accountSid: AC00000000000000000000000000000000, authTokenFile: /nowhere"
        let configuration = """
            providers:
              - { name: main, \(provider)\(sender.isEmpty ? "" : ", \(sender)") }
              - { name: backup, kind: log }
            """
        let file = try folder.write(configuration, to: "courier.yaml")
        #expect(try await exitCode(policy, "--config", file) == code)
    }

    /// A change to the smallest policy, and the expected note.
    static let notes: [(@Sendable (inout TenantPolicy) -> Void, String)] = [
        ({ $0.limits.perRecipient = [] }, "limits.perRecipient: no limit"),
        ({ $0.limits.perIP = [] }, "limits.perIP: no limit"),
        ({ $0.limits.perTenant = [] }, "limits.perTenant: no limit"),
        ({ $0.brake.scopes = [.ip: .off, .region: .off] }, "brake: off for ip, region"),
        ({ $0.brake.regions = [.norway: .off] }, "brake.regions.NO: off"),
        (
            { $0.brake.scopes = [.ip: .enforce] },
            "brake: enforces only while 200 codes in 24h are approved by check_code; else it records"
        ),
        (
            { $0.brake.regions = [.norway: .enforce] },
            "brake: while a range or region is blocked, people need a confirmed number or a verified app"
        ),
        (
            { $0.limits.perIP = [.init(count: 5, per: .seconds(60)), .init(count: 5, per: .seconds(10))] },
            "limits.perIP[1]: never decides: 5 in 1m is at least as strict"
        ),
        (
            { $0.limits.perIP = [.init(count: 5, per: .seconds(60)), .init(count: 5, per: .seconds(60))] },
            "limits.perIP[1]: never decides: 5 in 1m is at least as strict"
        ),
        (
            { $0.limits.perRecipient = [.init(count: 10_001, per: .seconds(60))] },
            "limits.perRecipient: keeps up to 10,001 admissions in one row, 120,012 bytes that each of them writes anew"
        ),
        (
            { $0.limits.perIP = [.init(count: 50_000, per: .seconds(2)), .init(count: 9000, per: .seconds(1))] },
            "limits.perIP: keeps up to 18,000 admissions in one row, 216,000 bytes that each of them writes anew"
        ),
        ({ $0.appName = "Acme™" }, "appName: ™ (U+2122): not in GSM-7, so a segment holds 70 characters and not 160"),
        (
            { $0.appName = "Çeşme Taksi" },
            "appName: ş (U+015F): not in GSM-7, so a segment holds 70 characters and not 160"
        ),
        (
            { $0.messages.templates["en"] = try? MessageTemplate(checking: "{code} – {appName}’s code") },
            "messages.templates.en: – (U+2013), ’ (U+2019): not in GSM-7, so a segment holds 70 characters and not 160"
        ),
        (
            { $0.messages.regions[.norway] = RegionMessages(signature: "【Cars24】") },
            "messages.regions.NO.signature: Cars24 looks like a code to phones: leave out its digits"
        ),
        (
            { $0.appName = "Cars24" },
            "appName: Cars24 looks like a code to phones: have texts of your own with {code} before {appName}"
        ),
        ({ $0.appVerification = .off }, "appVerification: off, so only test numbers are served"),
        (
            { $0.appVerification = .off },
            "appVerification: off without a test number in force: every request is refused"
        ),
        ({ $0.regions = RegionPolicy(.allowlistOnly(allowed: [])) }, "regions: allows no region"),
        (
            { $0.regions = RegionPolicy(.allowByDefault(disallowed: Set(["EH"].compactMap { Region($0) }))) },
            "regions: EH: no mobile number tells it from MA, so this rule counts for all of them"
        ),
        ({ _ in }, "regions: IN: only recipients that the account has proved before"),
        (
            { $0.routes.regions = [.norway: ["main"]] },
            "routes.regions.NO: never taken: the region policy refuses NO"
        ),
        (
            { $0.emailLinks.authorizedDomains = ["example.com"] },
            "routes.email: none: e-mail links are allowed and every one fails"
        ),
        ({ _ in }, "autofill: any domain and app hash of a request is taken; name yours"),
        (
            { tenant in
                tenant.routes.email = ["mailer"]
                tenant.emailLinks.authorizedDomains = []
            },
            "emailLinks.authorizedDomains: none: every e-mail with a link is refused"
        ),
        (
            { $0.defaultLanguage = "eo-XX" },
            "defaultLanguage: has no text, neither built in nor of your own: English is sent"
        ),
        (
            { $0.resend.sameCodeWhileLeft = .seconds(600) },
            "resend.sameCodeWhileLeft: is not below code.validity (10m): every resend has a new code"
        ),
        (
            { $0.testNumbers = [.ended(at: nil)] },
            "testNumbers[0].until: none: a code that never ends is as good as published"
        ),
        ({ $0.code.length = 4 }, "code.length: is below 6 digits"),
        ({ $0.code.validity = .seconds(601) }, "code.validity: is longer than 10m"),
        ({ $0.code.validity = .seconds(599) }, "resend.windows[3]: is longer than the code is valid (599s)"),
        (
            { $0.testNumbers = [.ended(at: .test)] },
            "testNumbers[0]: is past its end (2026-11-20): the number is an ordinary one now"
        ),
    ]

    @Test(arguments: notes.indices)
    func `what is off or does not do what it seems to is told`(index: Int) {
        let (change, expected) = Self.notes[index]
        let notes = PolicyNotes(policy: .test(change), now: .test)
        let told = (notes.switchedOff + notes.warnings).map(\.description)
        #expect(told.contains("tenants.default.\(expected)"), "\(told)")
    }

    /// Changes after which no text ends in a domain or an app hash of its request's choice.
    static let withoutOpenAutofill: [@Sendable (inout TenantPolicy) -> Void] = [
        { $0.autofill = AutofillPolicy() }, { $0.routes = Routes(fallback: [], email: ["mailer"]) },
        { tenant in
            tenant.regions = RegionPolicy(.allowlistOnly(allowed: [.norway]))
            tenant.messages.regions = [.norway: RegionMessages(hasAutofill: false)]
        },
    ]

    @Test(arguments: withoutOpenAutofill.indices)
    func `autofill is told only where a text may end in any of a request`(index: Int) {
        let notes = PolicyNotes(policy: .test(Self.withoutOpenAutofill[index]), now: .test)
        #expect(!notes.warnings.contains { $0.key == "tenants.default.autofill" })
    }

    @Test func `a policy's sites and apps are summed up`() {
        let policy = Policy.test {
            $0.autofill = AutofillPolicy(domains: ["example.com"], androidAppHashes: ["FA+9qCX9VSu"])
        }
        let lines = PolicySummary(policy: policy, now: .test).lines(file: "policy.yaml")
        #expect(lines.contains("  autofill              example.com, FA+9qCX9VSu"))
    }

    @Test(arguments: ["default", "Default"])
    func `a policy without the tenant of requests that name none is told`(name: String) throws {
        let tenant = try #require(Policy.test().tenants["default"])
        let notes = PolicyNotes(policy: Policy(version: "1", tenants: [name: tenant]), now: .test)
        let told = notes.warnings.map(\.description)
        let expected = "tenants.default: none: requests that name no tenant are refused"
        #expect(told.contains(expected) == (name != "default"), "\(told)")
    }

    @Test(arguments: ["de-AT", "nn", "eo"])
    func `a default language that has a text is not told`(language: String) throws {
        let template = try MessageTemplate(checking: "{code} is your {appName} code.")
        let policy = Policy.test { tenant in
            tenant.defaultLanguage = language
            tenant.messages.templates = ["eo": template]
        }
        #expect(!PolicyNotes(policy: policy, now: .test).warnings.contains { $0.key.hasSuffix("defaultLanguage") })
    }

    @Test func `what does what it seems to is not told`() {
        let notes = PolicyNotes(
            policy: .test { tenant in
                tenant.regions.confirmedOnly = []
                tenant.purposeRegions = [.signUp: RegionPolicy(.allowByDefault(disallowed: []))]
                tenant.routes.regions = [.norway: ["main"]]
                tenant.routes.email = ["mailer"]
                tenant.autofill = AutofillPolicy()
                // The smaller limit bounds the large one's window, and a tenant's admissions are not in one row.
                tenant.limits.perIP = [
                    .init(count: 100, per: .seconds(60)), .init(count: 1_000_000, per: .seconds(3600)),
                ]
                tenant.limits.perTenant = [.init(count: 1_000_000, per: .seconds(60))]
                tenant.testNumbers = [.ended(at: .test + .microseconds(1))]
            },
            now: .test
        )
        #expect(notes.switchedOff.isEmpty)
        #expect(notes.warnings.isEmpty)
    }
}

extension Region {
    fileprivate static let norway = Region("NO") ?? .unknown
}

extension TestNumber {
    fileprivate static func ended(at time: Timestamp?) -> TestNumber {
        guard let number = PhoneNumber("+16505550123") else { preconditionFailure("the number is E.164") }
        return TestNumber(number: number, code: "654321", until: time)
    }
}
