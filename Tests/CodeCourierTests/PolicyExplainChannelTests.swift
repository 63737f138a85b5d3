// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing
import Verification

@testable import CodeCourier

/// What `policy explain` shows of e-mail links, silent pushes and test numbers that end.
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

    private static let limits = ["limits per recipient", "limits per IP", "limits per tenant"]

    static let emailOrder =
        ["readable", "tenant", "shape", "channel", "action code", "request id", "time", "test numbers only"]
        + ["link domain", "app verification", "slot"] + limits + ["send"]

    static let pushOrder =
        ["readable", "tenant", "shape", "channel", "purpose", "request id", "time", "test numbers only", "slot"]
        + limits + ["send"]

    @Test func `an e-mail is shown with the rules for links`() throws {
        let explanation = explain(.email(id: "r1", at: .test))
        #expect(explanation.isSent)
        #expect(explanation.lines.map(\.rule) == Self.emailOrder)
        let domain = try #require(explanation.lines.first { $0.rule == "link domain" })
        #expect(domain.saw == "example.com; authorised: example.com, links.example.com")
        let send = try #require(explanation.lines.last)
        #expect(send.saw == "a link for 20m, and a code of 6 digits for 10m; by no provider, since there is no route")
        let text = explanation.text.joined() + String(decoding: explanation.json, as: UTF8.self)
        #expect(!text.contains("ada@") && !text.contains("=ada"))
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
        let explanation = explain(.push(id: "r1", at: .test))
        #expect(explanation.isSent)
        #expect(explanation.lines.map(\.rule) == Self.pushOrder)
        #expect(explanation.lines.last?.saw == "a secret for 10m; by no provider, since there is no route")
        let refused = explain(.push(id: "r1", purpose: "sign_in", at: .test))
        #expect(refused.lines.first { $0.verdict.name == "refuses" }?.rule == "purpose")
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
