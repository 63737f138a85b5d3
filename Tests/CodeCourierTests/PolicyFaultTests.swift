// SPDX-License-Identifier: Apache-2.0

import SettingsReading
import TestTools
import Testing
import Verification

@testable import CodeCourier

@Suite("Faults of the policy")
struct PolicyFaultTests {
    static let providers: [String: Channel] = ["main": .sms, "backup": .sms, "mailer": .email, "push": .apns]

    private func faults(_ text: String, providers: [String: Channel]? = PolicyFaultTests.providers) -> [String] {
        switch PolicyFile.parse(text, file: "policy.yaml", providers: providers) {
        case .success: []
        case .failure(let faults): faults.faults.map(\.description)
        }
    }

    /// A line of the example that the changes replace with other keys.
    private static let links = "emailLinks: { authorizedDomains: [example.com], validity: 20m }"

    /// A part of the example, its replacement, and the start of the only fault line.
    static let changes: [(String, String, String)] = [
        ("version: \"2026-11-20.1\"", "", "3: version: is required"),
        ("\"2026-11-20.1\"", "[1]", "2: version: must be a text"),
        ("version:", "versions:", "2: versions: is not a known key; did you mean version?"),
        ("  default:\n    app", "  a b:\n    app", "4: tenants: the name of a tenant must be 1 to 64 letters"),
        ("appName: Acme", "appName: www.acme", "5: tenants.default.appName: must be 1 to 40 characters"),
        ("appName: Acme", "appName: \"a\\nb\"", "5: tenants.default.appName: must be 1 to 40 characters"),
        ("appName: Acme", "appName: https://acme.com", "5: tenants.default.appName: must be 1 to 40 characters"),
        (
            "appName: Acme", "appName: Forum2000",
            "5: tenants.default.appName: must be 1 to 40 characters without control characters, links, @ or four digits"
        ),
        ("appName: Acme", "appname: Acme", "5: tenants.default.appname: is not a known key; did you mean appName?"),
        ("Language: en", "Language: english-", "6: tenants.default.defaultLanguage: must be a language tag"),
        (links, "emailLinks: { path: auth }", "21: tenants.default.emailLinks.path: must be a path such as /auth"),
        (links, "emailLinks: { path: /a//b }", "21: tenants.default.emailLinks.path: must be a path such as /auth"),
        (links, "emailLinks: { path: \"/a?b\" }", "21: tenants.default.emailLinks.path: must be a path such as /auth"),
        (
            "FR, IN]", "FR, IN, ZZ]",
            "8: tenants.default.regions.allowlistOnly.allowedRegions[5]: must be a region's two"
        ),
        (
            "FR, IN]", "FR, IN, us]",
            "8: tenants.default.regions.allowlistOnly.allowedRegions[5]: must be a region's two"
        ),
        (
            "FR, IN]", "FR, IN, 002]",
            "8: tenants.default.regions.allowlistOnly.allowedRegions[5]: must be a region's two"
        ),
        (
            "{ allowByDefault: { disallowedRegions: [] } }", "{ allowByDefault: { allowedRegions: [US] } }",
            """
            11: tenants.default.purposes.mfa_sign_in.regions.allowByDefault.allowedRegions: names US, which is allowed by \
            default: name 001 and XX alone
            """
        ),
        (
            "{ allowByDefault: { disallowedRegions: [] } }",
            "{ allowByDefault: { disallowedRegions: [XX], allowedRegions: [XX] } }",
            "11: tenants.default.purposes.mfa_sign_in.regions.allowByDefault.allowedRegions: contradicts itself: XX"
        ),
        (
            "{ allowByDefault: { disallowedRegions: [] } }",
            "{ allowByDefault: { disallowedRegions: [EH] }, confirmedOnlyRegions: [MA] }",
            "11: tenants.default.purposes.mfa_sign_in.regions.confirmedOnlyRegions: contradicts itself: MA is also disallowed"
        ),
        ("FR, IN]", "FR, IN, UK]", "8: tenants.default.regions.allowlistOnly.allowedRegions[5]: must be GB"),
        ("FR, IN]", "FR, IN, US]", "8: tenants.default.regions.allowlistOnly.allowedRegions[5]: names US again"),
        (
            "allowedRegions: [US, GB, DE, FR, IN]", "allowedRegions: US",
            "8: tenants.default.regions.allowlistOnly.allowedRegions: must be a list"
        ),
        (
            "allowedRegions: [US, GB, DE, FR, IN]", "",
            "8: tenants.default.regions.allowlistOnly.allowedRegions: is required"
        ),
        (
            "confirmedOnlyRegions: [IN]", "confirmedOnlyRegions: [NO]",
            "9: tenants.default.regions.confirmedOnlyRegions: contradicts itself: NO"
        ),
        ("confirmedOnlyRegions: [IN]", "allowByDefault: {}", "7: tenants.default.regions: states both"),
        (
            "{ allowByDefault: { disallowedRegions: [] } }", "{}",
            "11: tenants.default.purposes.mfa_sign_in.regions: must state a rule"
        ),
        (
            "{ allowByDefault: { disallowedRegions: [] } }",
            "{ allowByDefault: { disallowedRegions: [NO] }, confirmedOnlyRegions: [NO] }",
            "11: tenants.default.purposes.mfa_sign_in.regions.confirmedOnlyRegions: contradicts itself: NO is also disallowed"
        ),
        (
            "mfa_sign_in:", "mfa_signin:",
            "11: tenants.default.purposes.mfa_signin: is not a known key; did you mean mfa_sign_in?"
        ),
        ("voip: record", "voip: deny", "12: tenants.default.numberTypes.voip: must be one of allow, record, refuse"),
        ("required: false", "required: maybe", "13: tenants.default.appVerification.required: must be true or false"),
        (
            "minimumScore: 0.5", "minimumScore: 1.5",
            "13: tenants.default.appVerification.minimumScore: must be a number from 0.0 to 1.0"
        ),
        (
            "minimumScore: 0.5", "minimumScore: nan",
            "13: tenants.default.appVerification.minimumScore: must be a number"
        ),
        (
            "{ required: false, minimumScore: 0.5 }", "none",
            "13: tenants.default.appVerification: must be off, or a mapping"
        ),
        ("length: 6", "length: 5", "14: tenants.default.code.length: must be at least 6, unless"),
        (
            "length: 6", "length: 3, allowShortCodes: true",
            "14: tenants.default.code.length: must be a whole number from 4 to 10"
        ),
        ("length: 6", "length: six", "14: tenants.default.code.length: must be a whole number from 4 to 10"),
        ("validity: 10m", "validity: 11m", "14: tenants.default.code.validity: must be at most 10m, unless"),
        ("validity: 10m", "validity: 10 m", "14: tenants.default.code.validity: must be a duration"),
        ("maxChecks: 5", "maxChecks: 6", "14: tenants.default.code.maxChecks: must be a whole number from 1 to 5"),
        ("[60s, 120s, 300s, 600s]", "[]", "15: tenants.default.resend.windows: must have at least one window"),
        ("[60s, 120s, 300s, 600s]", "[60s, 0s]", "15: tenants.default.resend.windows[1]: must be a duration"),
        (links, "brake: { mode: on }", "21: tenants.default.brake.mode: must be one of off, record, enforce"),
        (links, "brake: { modes: record }", "21: tenants.default.brake.modes: is not a known key; did you mean mode?"),
        (
            links, "brake: { action: divert }",
            "21: tenants.default.brake.action: must be refuse; to divert to another channel is not available"
        ),
        (links, "brake: { scopes: { network: off } }", "21: tenants.default.brake.scopes.network: is not a known key"),
        (links, "brake: { regions: { UK: off } }", "21: tenants.default.brake.regions: the name of a region must be"),
        (links, "brake: { regions: { GB: no } }", "21: tenants.default.brake.regions.GB: must be one of off, record"),
        (links, "brake: { trustedScore: 1.1 }", "21: tenants.default.brake.trustedScore: must be a number from 0"),
        (links, "brake: { sensitivity: 3 }", "21: tenants.default.brake.sensitivity: must be a number from 0.5 to 2"),
        (links, "brake: { minimumApprovals: 0 }", "21: tenants.default.brake.minimumApprovals: must be a whole number"),
        (links, "brake: { block: { first: 59s } }", "21: tenants.default.brake.block.first: must be a duration"),
        (
            links, "brake: { block: { first: 2h, longest: 1h } }",
            "21: tenants.default.brake.block.longest: must not be shorter than the first block (2h)"
        ),
        (
            links, "brake: { allow: { cidrs: [203.0.113.1/24] } }",
            "21: tenants.default.brake.allow.cidrs[0]: must be a network such as 203.0.113.0/24"
        ),
        (
            links, "brake: { allow: { prefixes: [\"+49\"] } }",
            "21: tenants.default.brake.allow.prefixes[0]: must be + and 4 to 15 digits"
        ),
        ("count: 50,", "count: 0,", "18: tenants.default.limits.perIP[0].count: must be a whole number from 1"),
        ("{ count: 50, per: 1m }", "{ count: 50 }", "18: tenants.default.limits.perIP[0].per: is required"),
        ("{ count: 50, per: 1m }", "50", "18: tenants.default.limits.perIP[0]: must be a mapping"),
        ("per: 10s", "per: 0ms", "17: tenants.default.limits.perRecipient[0].per: must be a duration"),
        ("+16505550123", "+0650", "20: tenants.default.testNumbers[0].number: must be a number in quotes from a range"),
        ("+16505550123", "+14155550923", "20: tenants.default.testNumbers[0].number: must be a number in quotes from"),
        ("code: \"654321\"", "code: 65432", "20: tenants.default.testNumbers[0].code: must be 6 digits"),
        ("\"2027-01-01\"", "2027-02-30", "20: tenants.default.testNumbers[0].until: must be a date"),
        (
            "\"2027-01-01\" }", "2027-01-01 }, { number: \"+16505550123\", code: \"111111\" }",
            "20: tenants.default.testNumbers[1]: repeats the number"
        ),
        ("[example.com]", "[local_host]", "21: tenants.default.emailLinks.authorizedDomains[0]: must be a host name"),
        (
            "[example.com]", "[a.example, A.example]",
            "21: tenants.default.emailLinks.authorizedDomains: names a domain more than once"
        ),
        (links, "autofill: []", "21: tenants.default.autofill: must be a mapping"),
        (links, "autofill:", "21: tenants.default.autofill: must be a mapping"),
        (links, "autofill: { domain: [a.de] }", "21: tenants.default.autofill.domain: is not a known key; did you"),
        (links, "autofill: { domains: a.de }", "21: tenants.default.autofill.domains: must be a list of host names"),
        (
            links, "autofill: { domains: [\"https://a.de\"] }",
            "21: tenants.default.autofill.domains[0]: must be a host name such as example.com"
        ),
        (links, "autofill: { domains: [a.de/b] }", "21: tenants.default.autofill.domains[0]: must be a host name"),
        (links, "autofill: { domains: [localhost] }", "21: tenants.default.autofill.domains[0]: must be a host name"),
        (
            links, "autofill: { domains: [a.de, A.de] }",
            "21: tenants.default.autofill.domains: names a domain more than once"
        ),
        (
            links, "autofill: { androidAppHashes: {} }",
            "21: tenants.default.autofill.androidAppHashes: must be a list of hashes"
        ),
        (
            links, "autofill: { androidAppHashes: [FA+9qCX9VS] }",
            "21: tenants.default.autofill.androidAppHashes[0]: must be 11 letters, digits, + or /"
        ),
        (
            links, "autofill: { androidAppHashes: [FA+9qCX9VSu=] }",
            "21: tenants.default.autofill.androidAppHashes[0]: must be 11 letters"
        ),
        (
            links, "autofill: { androidAppHashes: [FA-9qCX9VSu] }",
            "21: tenants.default.autofill.androidAppHashes[0]: must be 11 letters"
        ),
        (
            links, "autofill: { androidAppHashes: [FA+9qCX9VSu, FA+9qCX9VSu] }",
            "21: tenants.default.autofill.androidAppHashes: names a hash more than once"
        ),
        ("validity: 20m", "validity: 25h", "21: tenants.default.emailLinks.validity: must be a duration"),
        (
            "default: [main, backup]", "default: []",
            "23: tenants.default.routes.default: must name at least one provider"
        ),
        (
            "default: [main, backup]", "default: [main, other]",
            "23: tenants.default.routes.default[1]: names other, which is no configured provider; there are backup, main"
        ),
        ("default: [main, backup]", "default: [main, main]", "23: tenants.default.routes.default[1]: names main again"),
        ("default: [main, backup]", "", "22: tenants.default.routes.default: is required"),
        (
            "{ US: [main] }", "{ XX: [main] }",
            "24: tenants.default.routes.regions: the name of a region must be a region's two"
        ),
        ("{ US: [main] }", "{ US: [] }", "24: tenants.default.routes.regions.US: must name at least one provider"),
        (
            "{ US: [main] }", "{ NO: [main], \"NO\": [main] }",
            "24: tenants.default.routes.regions.NO: is given more than once"
        ),
        ("{ US: [main] }", "{ US: [main], US: [main] }", "24: US: is given more than once"),
        (
            "default: [main, backup]", "default: [mailer]",
            "23: tenants.default.routes.default[0]: names mailer, which serves email and not sms; there are backup, main"
        ),
        (
            "default: [main, backup]", "default: [main]\n      apns: [mailer]",
            "24: tenants.default.routes.apns[0]: names mailer, which serves email and not apns; there are push"
        ),
        (
            "default: [main, backup]", "default: { adaptive: [main] }",
            "23: tenants.default.routes.default.adaptive: must name 2 to 20 providers"
        ),
        (
            "default: [main, backup]", "default: { adaptive: [main, main] }",
            "23: tenants.default.routes.default.adaptive[1]: names main again; keep one"
        ),
        (
            "default: [main, backup]", "default: { adaptive: [main, nobody] }",
            "23: tenants.default.routes.default.adaptive[1]: names nobody, which is no configured provider"
        ),
        (
            "default: [main, backup]", "default: { adaptive: [main, backup], floor: 6 }",
            "23: tenants.default.routes.default.floor: must be a whole number from 0 to 5"
        ),
        (
            "default: [main, backup]", "default: { adaptive: [main, backup], halfLife: 1m }",
            "23: tenants.default.routes.default.halfLife: must be a duration"
        ),
        (
            "default: [main, backup]", "default: { floor: 1 }",
            "23: tenants.default.routes.default.adaptive: is required"
        ),
        (
            "default: [main, backup]", "default: [main, { provider: backup, weight: 30 }]",
            "23: tenants.default.routes.default: must be all names or all weighted"
        ),
        (
            "default: [main, backup]", "default: [{ provider: main, weight: 0 }]",
            "23: tenants.default.routes.default[0].weight: must be a whole number from 1 to 100"
        ),
        (
            "default: [main, backup]", "default: [{ provider: main }]",
            "23: tenants.default.routes.default[0].weight: is required"
        ),
        (
            "default: [main, backup]", "default: [{ provider: main, share: 1, weight: 5 }]",
            "23: tenants.default.routes.default[0].share: is not a known key"
        ),
        (
            "default: [main, backup]", "default: [{ provider: main, weight: 5 }, { provider: main, weight: 6 }]",
            "23: tenants.default.routes.default[1]: names main again"
        ),
        ("default: [main, backup]", "email: [mailer]", "22: tenants.default.routes.default: is required"),
    ]

    @Test(arguments: changes)
    func `a fault is one line with file, line, key and fix`(piece: String, change: String, expected: String) {
        #expect(ExampleFiles.policy.contains(piece), "the example has no \(piece)")
        let faults = faults(ExampleFiles.policy.replacing(piece, with: change))
        #expect(faults.count == 1, "\(faults)")
        #expect(faults.first?.hasPrefix("policy.yaml:\(expected)") == true, "\(faults)")
    }

    @Test(arguments: [
        ("", "policy.yaml: is empty"), ("version: \"1\"", "policy.yaml:1: tenants: is required"),
        ("version: \"1\"\ntenants: {}", "policy.yaml:2: tenants: must have at least one tenant"),
        ("version: \"1\"\ntenants:", "policy.yaml:2: tenants: must be a mapping"),
        ("version: \"1\"\ntenants: [a]", "policy.yaml:2: tenants: must be a mapping"),
    ])
    func `a policy without a tenant is refused`(text: String, expected: String) {
        let faults = faults(text)
        #expect(faults.count == 1)
        #expect(faults.first?.hasPrefix(expected) == true, "\(faults)")
    }

    @Test func `a tenant states its name, its regions and its routes`() {
        let faults = faults("version: \"1\"\ntenants: { a: {} }")
        #expect(faults.map { $0.prefix(30) }.count == 3)
        for key in ["appName", "regions", "routes"] {
            #expect(faults.contains { $0.hasPrefix("policy.yaml:2: tenants.a.\(key): is required") })
        }
    }

    @Test func `all faults come out at once, in the order of their lines`() {
        let text = ExampleFiles.policy
            .replacing("US: [main]", with: "US: [nobody]").replacing("length: 6", with: "length: 60")
            .replacing("voip: record", with: "voip: no").replacing("[IN]", with: "[ZZ]")
        let lines = faults(text).map { $0.split(separator: ":")[1] }
        #expect(lines == ["9", "12", "14", "24"])
    }

    @Test func `more than ten test numbers are refused`() {
        let numbers = (0...10).map { "{ number: \"+165055501\(10 + $0)\", code: \"654321\" }" }.joined(separator: ", ")
        let text = ExampleFiles.policy.replacing(
            "{ number: \"+16505550123\", code: \"654321\", until: \"2027-01-01\" }",
            with: numbers
        )
        #expect(faults(text) == ["policy.yaml:20: tenants.default.testNumbers: must have at most 10 test numbers"])
    }

    @Test func `without the names of the providers the routes stay unchecked`() {
        #expect(faults(ExampleFiles.policy, providers: nil).isEmpty)
        #expect(faults(ExampleFiles.policy, providers: ["main": .sms]).count == 1)
    }

    @Test func `a policy that is not there is one fault`() {
        guard case .failure(let faults) = PolicyFile.load(path: "/nowhere/policy.yaml") else {
            Issue.record("loaded a policy that is not there")
            return
        }
        #expect(faults.description == "/nowhere/policy.yaml: cannot be read: there is no such file")
    }

    @Test func `a file on disk loads as its text does`() throws {
        let folder = try ScratchFolder()
        let path = try folder.write(ExampleFiles.policy, to: "policy.yaml")
        let policy = try PolicyFile.load(path: path, providers: Self.providers).get()
        #expect(try policy == PolicyFile.parse(ExampleFiles.policy, file: "x").get())
    }
}
