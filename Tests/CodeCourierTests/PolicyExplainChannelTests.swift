// SPDX-License-Identifier: Apache-2.0

import Formats
import TestSupport
import Testing
import Verification

@testable import CodeCourier

/// Tests the output of `policy explain` for e-mail links, silent pushes and expiring test numbers.
@Suite("policy explain, by channel")
struct PolicyExplainChannelTests {
    private func explain(
        _ record: InboundRecord,
        _ policy: Policy = .test(),
        numbers: FixedNumbers = FixedNumbers(),
        now: Timestamp = .test
    ) -> PolicyExplanation {
        PolicyExplanation(of: record, policy: policy, numbers: numbers, maxRequestAge: .seconds(300), now: now)
    }

    private static let limits = [
        "limits per recipient", "limits per IP", "limits per subject", "limits per device", "limits per tenant",
    ]

    static let emailOrder =
        ["readable", "tenant", "shape", "channel", "action code", "request id", "time", "test numbers only"]
        + ["link domain", "app verification", "slot"] + limits + ["send"]

    static let pushOrder =
        ["readable", "tenant", "shape", "channel", "purpose", "request id", "time", "test numbers only", "slot"]
        + limits + ["send"]

    private static let routed = Policy.test { tenant in
        tenant.routes.email = ["mailer"]
        tenant.routes.push = ["push"]
    }

    @Test func `an e-mail is shown with the rules for links`() throws {
        let explanation = explain(.email(id: "r1", at: .test), Self.routed)
        #expect(explanation.isSent)
        #expect(explanation.lines.map(\.rule) == Self.emailOrder)
        let domain = try #require(explanation.lines.first { $0.rule == "link domain" })
        #expect(domain.saw == "example.com; authorised: example.com, links.example.com")
        let send = try #require(explanation.lines.last)
        #expect(send.saw == "a link for 20m, and a code of 6 digits for 10m; by mailer")
        let text = explanation.text.joined() + String(decoding: explanation.json, as: UTF8.self)
        #expect(!text.contains("ada@") && !text.contains("=ada"))
    }

    @Test(arguments: [
        (60, "a link for 1m, and no code, since one for 1m would live too short; by mailer"),
        (61, "a link for 61s, and a code of 6 digits for 61s; by mailer"),
    ])
    func `a code that lives too short to be sent is told`(seconds: Int, expected: String) throws {
        let policy = Policy.test { tenant in
            tenant.routes.email = ["mailer"]
            tenant.emailLinks.validity = .seconds(seconds)
        }
        #expect(explain(.email(id: "r1", at: .test), policy).lines.last?.saw == expected)
    }

    @Test(arguments: [
        (#"{"url":"https://example.com/"}"#, "action code", "invalid_request"),
        (#"{"url":"https://example.org/","handleCodeInApp":true}"#, "link domain", "unauthorized_domain"),
    ])
    func `the rule that refuses a link is shown`(actionCode: String, rule: String, reason: String) throws {
        let explanation = explain(.email(id: "r1", actionCode: actionCode, at: .test))
        #expect(explanation.lines.map(\.rule) == Self.emailOrder)
        let line = try #require(explanation.lines.first { $0.verdict.name == "refuses" })
        #expect(line.rule == rule)
        #expect(explanation.decision.reason == reason)
    }

    @Test func `a push is shown with the rules for pushes`() throws {
        let explanation = explain(.push(id: "r1", at: .test), Self.routed)
        #expect(explanation.isSent)
        #expect(explanation.lines.map(\.rule) == Self.pushOrder)
        #expect(explanation.lines.last?.saw == "a secret for 10m; by push")
        let refused = explain(.push(id: "r1", purpose: "sign_in", at: .test))
        #expect(refused.lines.first { $0.verdict.name == "refuses" }?.rule == "purpose")
    }

    static let invalid: [(InboundRecord, [String])] = [
        (.email(id: "r1", at: .test, more: #","deadline":7"#), emailOrder),
        (.push(id: "r1", token: "0f", at: .test), pushOrder),
        (.email(id: "r1", at: .test, more: #","tenant":"nobody","deadline":7"#), emailOrder),
    ]

    @Test(arguments: invalid)
    func `a request that is refused for its shape is shown with the rules of its channel`(
        record: InboundRecord,
        order: [String]
    ) {
        let explanation = explain(record)
        #expect(explanation.lines.contains { $0.verdict.name == "refuses" })
        #expect(explanation.lines.map(\.rule) == order)
    }

    static let unrouted: [(InboundRecord, Routes)] = [
        (.email(id: "r1", at: .test), Routes(fallback: ["main"], push: ["push"])),
        (.push(id: "r1", at: .test), Routes(fallback: ["main"], email: ["mailer"])),
        (.request(id: "r1", at: .test), Routes(fallback: [], email: ["mailer"])),
    ]

    @Test(arguments: unrouted)
    func `a message without a route fails, though every rule lets it through`(
        record: InboundRecord,
        routes: Routes
    ) throws {
        let explanation = explain(record, .test { $0.routes = routes })
        #expect(!explanation.isSent)
        #expect(
            explanation.decision == SimulatedDecision(.failed, rule: "routes", reason: "no_route")
        )
        let send = try #require(explanation.lines.last)
        #expect(send.verdict == .fails(reason: "no_route", rule: "routes"))
        #expect(send.saw.hasSuffix("by no provider, since there is no route"))
        #expect(!explanation.lines.contains { $0.verdict.name == "refuses" })
        let conclusion = "It would not be sent: failed, no_route, by the rule routes."
        #expect(explanation.text.last == conclusion)
        let json = String(decoding: explanation.json, as: UTF8.self)
        #expect(json.contains(#""wouldBeSent":false,"decision":"failed","reason":"no_route""#), "\(json)")
    }

    @Test func `a region's own route is one`() {
        let germany = Region("DE") ?? .unknown
        let record = InboundRecord.request(id: "r1", at: .test)
        #expect(explain(record, .test { $0.routes = Routes(fallback: [], regions: [germany: ["main"]]) }).isSent)
        #expect(!explain(record, .test { $0.routes = Routes(fallback: ["main"], regions: [germany: []]) }).isSent)
    }

    /// The faults of test numbers, and the reason in the worker's final event.
    static let faults: [(TestNumber.Fault?, String)] = [
        (nil, ""), (.slow, ""), (.lostReceipt, ""), (.duplicateReceipt, ""), (.optedOut, "opted_out"),
        (.invalid, "provider_refused"), (.throttled, "provider_unavailable"), (.providerDown, "provider_unavailable"),
    ]

    @Test(arguments: faults)
    func `a test number's fault is shown as what workers make of it`(fault: TestNumber.Fault?, reason: String) throws {
        let number = try #require(PhoneNumber("+16505550123"))
        let policy = Policy.test {
            $0.testNumbers = [TestNumber(number: number, code: "654321", until: nil, fault: fault)]
        }
        let explanation = explain(.request(id: "r1", phoneNumber: number.e164, at: .test), policy)
        #expect(explanation.isSent == reason.isEmpty)
        #expect(explanation.decision.kind == (reason.isEmpty ? .sentToTestNumber : .failed))
        #expect(explanation.decision.reason == reason)
    }

    @Test func `what is asked from the future is shown as a wrong shape`() throws {
        let more = #","requestedAt":"2026-11-20T12:05:00.001Z""#
        let explanation = explain(.request(id: "r1", at: .test, more: more))
        let line = try #require(explanation.lines.first { $0.verdict.name == "refuses" })
        #expect(line.rule == "shape")
        #expect(explanation.decision.rule == "shape.requestedAt")
    }

    @Test func `a test number is one until its end, as of the time that is asked about`() throws {
        let number = try #require(PhoneNumber("+16505550123"))
        let policy = Policy.test {
            $0.testNumbers = [TestNumber(number: number, code: "654321", until: .test + .seconds(1))]
        }
        func explained(at now: Timestamp) -> PolicyExplanation {
            explain(
                .request(id: "r1", phoneNumber: number.e164, at: now),
                policy,
                numbers: FixedNumbers(region: "NO"),
                now: now
            )
        }
        let before = explained(at: .test)
        #expect(before.decision.kind == .sentToTestNumber)
        #expect(before.lines.first { $0.rule == "region" }?.verdict == .skipped)
        let after = explained(at: .test + .seconds(1))
        #expect(after.decision.reason == "region_not_allowed")
        #expect(after.lines.first { $0.verdict.name == "refuses" }?.rule == "region")
    }
}
