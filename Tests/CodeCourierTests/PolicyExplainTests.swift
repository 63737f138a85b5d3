// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Formats
import TestSupport
import TestTools
import Testing
import Verification

@testable import CodeCourier

@Suite("policy explain")
struct PolicyExplainTests {
    /// A request, and a policy with the one rule that refuses it.
    struct Case: Sendable, CustomTestStringConvertible {
        let rule: String
        let reason: String
        var phoneNumber = "+4915123456789"
        var more = ""
        var numbers = FixedNumbers()
        var policy = Policy.test()

        var testDescription: String { "\(rule): \(reason)" }
    }

    static let refusals: [Case] = [
        Case(rule: "shape", reason: "invalid_phone_number", phoneNumber: "+49"),
        Case(rule: "shape", reason: "invalid_request", more: #","deadline":7"#),
        Case(rule: "time", reason: "stale_request", more: #","requestedAt":"2026-11-20T11:54:59.999Z""#),
        Case(rule: "time", reason: "deadline", more: #","deadline":"2026-11-20T12:00:00Z""#),
        Case(rule: "tenant", reason: "unknown_tenant", more: #","tenant":"nobody""#),
        Case(rule: "test numbers only", reason: "test_number_only", policy: .test { $0.appVerification = .off }),
        Case(rule: "number", reason: "invalid_phone_number", numbers: FixedNumbers(isValid: false)),
        Case(rule: "region", reason: "region_not_allowed", numbers: FixedNumbers(region: "NO")),
        Case(rule: "region", reason: "region_confirmed_only", numbers: FixedNumbers(region: "IN")),
        Case(rule: "number type", reason: "number_type_not_allowed", numbers: FixedNumbers(type: .fixedLine)),
        Case(
            rule: "number type",
            reason: "number_type_not_allowed",
            numbers: FixedNumbers(type: .voip),
            policy: .test { $0.voip = .refuse }
        ),
        Case(
            rule: "autofill",
            reason: "unauthorized_domain",
            more: #","autofill":{"domain":"example.org"}"#,
            policy: .test { $0.autofill = AutofillPolicy(domains: ["example.com"]) }
        ),
        Case(
            rule: "app verification",
            reason: "app_verification_required",
            policy: .test { $0.appVerification = .on(required: true, minimumScore: 0.5) }
        ),
        Case(
            rule: "app verification",
            reason: "app_verification_failed",
            more: #","appVerification":{"method":"recaptcha","verdict":"pass","score":0.49}"#
        ),
    ]

    private func explain(_ value: Case) -> PolicyExplanation {
        PolicyExplanation(
            of: .request(id: "r1", phoneNumber: value.phoneNumber, at: .test, more: value.more),
            policy: value.policy,
            numbers: value.numbers,
            maxRequestAge: .seconds(300),
            now: .test
        )
    }

    @Test(arguments: refusals)
    func `the rule that refuses is shown, with those before it passed and those after it not reached`(
        value: Case
    ) throws {
        let explanation = explain(value)
        #expect(!explanation.isSent)
        #expect(explanation.decision.reason == value.reason)
        let index = try #require(explanation.lines.firstIndex { $0.verdict.name == "refuses" })
        let line = explanation.lines[index]
        #expect(line.rule == value.rule)
        guard case .refuses(let reason, let rule, _) = line.verdict else { return }
        #expect(reason == value.reason)
        #expect(rule == explanation.decision.rule)
        #expect(explanation.lines[..<index].allSatisfy { ["passes", "live_state"].contains($0.verdict.name) })
        #expect(explanation.lines[(index + 1)...].allSatisfy { $0.verdict == .notReached })
        #expect(explanation.lines.map(\.rule) == Self.order)
    }

    @Test func `a number of no region is refused by the rule that names its code`() throws {
        let explanation = explain(
            Case(
                rule: "region",
                reason: "region_not_allowed",
                numbers: FixedNumbers(region: "XX"),
                policy: .test { $0.regions = RegionPolicy(.allowByDefault(disallowed: [])) }
            )
        )
        #expect(explanation.decision.reason == "region_not_allowed" && explanation.decision.rule == "regions.001")
        let line = try #require(explanation.lines.first { $0.rule == "region" })
        #expect(line.saw.hasPrefix("XX (001, a satellite or international network), not confirmed"))
        #expect(explanation.text.last?.hasSuffix("by the rule regions.001.") == true)
    }

    static let order = [
        "readable", "tenant", "shape", "channel", "number", "request id", "time", "test number", "test numbers only",
        "region", "number type", "autofill", "app verification", "slot", "limits per recipient", "limits per IP",
        "limits per subject", "limits per device", "limits per tenant", "brake", "send",
    ]

    @Test func `a request that every rule lets through would be sent`() {
        let explanation = explain(Case(rule: "", reason: "", more: #","client":{"ip":"192.0.2.1"}"#))
        #expect(explanation.isSent)
        #expect(explanation.lines.map(\.rule) == Self.order)
        let names = explanation.lines.map(\.verdict.name)
        #expect((names[..<5] + names[6..<13] + names[16..<18]).allSatisfy { $0 == "passes" })
        #expect((names[13..<16] + names[18..<20]).allSatisfy { $0 == "live_state" })
        let limits = explanation.lines.first { $0.rule == "limits per recipient" }
        #expect(limits?.saw == "2 in 10s, 10 in 1h, 20 in 24h")
    }

    @Test func `the brake is shown with its modes, and passes whom it never stops`() throws {
        func line(_ more: String = "", _ brake: BrakePolicy = BrakePolicy()) throws -> PolicyExplanation.Line {
            let explanation = explain(Case(rule: "", reason: "", more: more, policy: .test { $0.brake = brake }))
            return try #require(explanation.lines.first { $0.rule == "brake" })
        }
        let enforced = BrakePolicy(scopes: [.ip: .enforce])
        let modes = "ip enforce, prefix record, range record, region record"
        #expect(try line("", enforced) == .init(rule: "brake", saw: modes, verdict: .liveState))
        let verified = #","appVerification":{"method":"app_attest","verdict":"pass"}"#
        #expect(try line(verified, enforced).saw == "\(modes); a verified app passes range and region")
        #expect(try line("", BrakePolicy(mode: .off)).verdict == .passes)
        let client = #","client":{"ip":"192.0.2.1"}"#
        let network = try #require(IPNetwork("192.0.2.0/24"))
        let allowed = try line(client, BrakePolicy(allowedNetworks: [network]))
        #expect(allowed == .init(rule: "brake", saw: "allowed by brake.allow", verdict: .passes))
    }

    @Test func `a limit that counts nothing passes`() {
        let explanation = explain(Case(rule: "", reason: "", policy: .test { $0.limits.perRecipient = [] }))
        #expect(explanation.lines.first { $0.rule == "limits per recipient" }?.verdict == .passes)
        #expect(explanation.lines.first { $0.rule == "limits per IP" }?.verdict == .passes)
        #expect(explanation.lines.first { $0.rule == "limits per tenant" }?.verdict == .liveState)
    }

    @Test(arguments: [
        ("", "", "1 in 1m; the request has no subject", "1 in 1m; the request has no client.deviceId", false),
        (#","subject":"a""#, #","client":{"deviceId":"d"}"#, "1 in 1m", "1 in 1m", true),
    ])
    func `limits of subject and device decide only where the request has the field`(
        subject: String,
        client: String,
        subjectSaw: String,
        deviceSaw: String,
        isCounted: Bool
    ) {
        let policy = Policy.test { tenant in
            let once = [RateLimit(count: 1, per: .seconds(60))]
            tenant.limits.perSubject = once
            tenant.limits.perDevice = once
        }
        let explanation = explain(Case(rule: "", reason: "", more: subject + client, policy: policy))
        for (rule, saw) in [("limits per subject", subjectSaw), ("limits per device", deviceSaw)] {
            let line = explanation.lines.first { $0.rule == rule }
            #expect(line == .init(rule: rule, saw: saw, verdict: isCounted ? .liveState : .passes))
        }
    }

    static let asked: [(AutofillPolicy?, String, String)] = [
        (nil, "", "none; allowed: any"),
        (nil, #","autofill":{"androidAppHash":"FA+9qCX9VSu"}"#, "FA+9qCX9VSu; allowed: any"),
        (AutofillPolicy(), "", "none; allowed: none"),
        (
            AutofillPolicy(domains: ["example.com"], androidAppHashes: ["FA+9qCX9VSu"]),
            #","autofill":{"domain":"Example.com","androidAppHash":"FA+9qCX9VSu"}"#,
            "example.com, FA+9qCX9VSu; allowed: example.com, FA+9qCX9VSu"
        ),
    ]

    @Test(arguments: asked)
    func `what a request asks autofill for is shown beside what is allowed`(
        allowed: AutofillPolicy?,
        more: String,
        expected: String
    ) {
        let explanation = explain(Case(rule: "", reason: "", more: more, policy: .test { $0.autofill = allowed }))
        #expect(explanation.isSent)
        #expect(explanation.lines.first { $0.rule == "autofill" }?.saw == expected)
    }

    @Test func `a rule that only records says so`() {
        let explanation = explain(Case(rule: "", reason: "", numbers: FixedNumbers(type: .voip)))
        #expect(explanation.isSent)
        #expect(explanation.lines.first { $0.rule == "number type" }?.verdict == .records("numberTypes.voip"))
    }

    @Test func `a test number skips the rules for people's numbers`() throws {
        let number = try #require(PhoneNumber("+16505550123"))
        let policy = Policy.test { tenant in
            tenant.appVerification = .off
            tenant.testNumbers = [TestNumber(number: number, code: "654321", until: nil)]
        }
        let explanation = explain(
            Case(
                rule: "",
                reason: "",
                phoneNumber: number.e164,
                numbers: FixedNumbers(region: "NO", isValid: false),
                policy: policy
            )
        )
        #expect(explanation.isSent)
        #expect(explanation.decision.kind == .sentToTestNumber)
        #expect(([explanation.lines[4]] + explanation.lines[8..<13]).allSatisfy { $0.verdict == .skipped })
        #expect(!explanation.text.joined().contains("654321"))
    }

    @Test func `what cannot be read is no request`() {
        let explanation = PolicyExplanation(
            of: .raw("{", at: .test),
            policy: .test(),
            numbers: FixedNumbers(),
            maxRequestAge: .seconds(300),
            now: .test
        )
        #expect(explanation.isUnreadable)
        #expect(explanation.lines.first?.verdict.name == "refuses")
    }

    @Test(arguments: refusals)
    func `neither output has the number`(value: Case) throws {
        let explanation = explain(value)
        let text = explanation.text.joined(separator: "\n")
        let json = String(decoding: explanation.json, as: UTF8.self)
        for output in [text, json] { #expect(!output.contains("15123456789")) }
        guard case .object(let object) = try JSONScanner.parse(explanation.json) else {
            Issue.record("the output is a JSON object")
            return
        }
        guard case .array(let rules)? = object["rules"] else {
            Issue.record("the rules are an array")
            return
        }
        #expect(rules.count == Self.order.count)
        #expect(object.text("reason") == value.reason)
    }

    @Test func `the exit code is 0 for sent, 1 for refused and 2 for what cannot be read`() async throws {
        let folder = try ScratchFolder()
        let routes = "default: [main, backup]\n      email: [mailer]"
        let text = ExampleFiles.policy.replacing("default: [main, backup]", with: routes)
        let policy = try folder.write(text, to: "policy.yaml")
        let request = try folder.write(
            #"{"requestId":"1","purpose":"sign_in","recipient":{"phoneNumber":"+16502530000"}}"#,
            to: "request.json"
        )
        func exitCode(_ arguments: String...) async throws -> Int32 {
            let command = try PolicyExplainCommand.parse([policy] + arguments)
            do {
                try await command.run()
                return 0
            } catch let code as ExitCode {
                return code.rawValue
            }
        }
        #expect(try await exitCode("--phone", "+16502530000") == 0)
        #expect(try await exitCode("--request", request, "--json") == 0)
        #expect(try await exitCode("--phone", "+4740612345") == 1)
        #expect(try await exitCode("--phone", "+4740612345", "--purpose", "mfa_sign_in", "--subject", "s") == 0)
        #expect(try await exitCode("--phone", "+16502530000", "--purpose", "nothing") == 1)
        #expect(try await exitCode("--email", "ada@example.com", "--url", "https://example.com/") == 0)
        #expect(try await exitCode("--email", "ada@example.com", "--url", "https://example.org/") == 1)
        #expect(try await exitCode("--email", "ada@example.com") == 0)
        #expect(try await exitCode("--email", "ada@example.com", "--phone", "+16502530000") == 2)
        #expect(try await exitCode("--request", request, "--phone", "+16502530000") == 2)
        #expect(try await exitCode("--request", policy) == 2)
        #expect(try await exitCode("--request", "\(folder.path)/missing.json") == 2)
        #expect(try await exitCode() == 2)
    }

    /// Options without effect, and the expected message about them.
    static let misplaced: [([String], String)] = [
        (["--request", "-", "--tenant", "default"], "--request has the whole request: leave out --tenant"),
        (["--request", "-", "--purpose", "sign_in"], "leave out --purpose"),
        (["--request", "-", "--subject", "s"], "leave out --subject"),
        (["--request", "-", "--confirmed"], "leave out --confirmed"),
        (["--request", "-", "--url", "https://example.com/", "--ip", "::1"], "leave out --url, --ip"),
        (["--phone", "+16502530000", "--url", "https://example.com/"], "--url needs --email"),
        (["--url", "https://example.com/"], "--url needs --email"),
    ]

    @Test(arguments: misplaced)
    func `an option that would change nothing is refused`(options: [String], expected: String) {
        do {
            _ = try PolicyExplainCommand.parse(["policy.yaml"] + options)
            Issue.record("took \(options)")
        } catch {
            #expect(PolicyExplainCommand.message(for: error).contains(expected))
        }
    }
}
