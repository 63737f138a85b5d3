// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing
import Verification

/// Tests the effect of the policy's own number plan rows on the decision.
@Suite struct NumberPlanScreeningTests {
    private func screening(
        _ verdict: NumberPlanOverride.Verdict?,
        numbers: FixedNumbers = FixedNumbers(),
        voip: VoIPRule = .record
    ) throws -> Screening {
        let rows = verdict.map {
            NumberPlanOverride(prefix: "49151", lengths: [13], verdict: $0)
        }
        let tenants = Policy.test { $0.voip = voip }.tenants
        let policy = Policy(version: "1", tenants: tenants, numberPlan: NumberPlan(rows.map { [$0] } ?? []))
        let screener = Screener(policy: policy, keys: .test, numbers: numbers)
        guard
            case .request(_, let screening) = screener.candidate(for: .request(id: "a", at: .test), now: .test).content
        else { throw NotARequest() }
        return screening
    }

    private func refusal(_ screening: Screening) -> Refusal? {
        if case .refused(let refusal) = screening { refusal } else { nil }
    }

    private func passed(_ screening: Screening) -> Screening.Passed? {
        if case .passed(let passed) = screening { passed } else { nil }
    }

    @Test func `a row makes a number valid that the directory does not know`() throws {
        let unknown = FixedNumbers(region: "DE", isValid: false, type: .unknown)
        let france = try #require(Region("FR"))
        #expect(refusal(try screening(nil, numbers: unknown))?.rule == "number.plan")
        #expect(passed(try screening(.valid(france, .mobile), numbers: unknown))?.region == france)
    }

    @Test func `a range that is switched off is refused under the policy's name`() throws {
        #expect(passed(try screening(nil)) != nil)
        let refusal = try #require(refusal(try screening(.invalid)))
        #expect(refusal.reason == .invalidPhoneNumber)
        #expect(refusal.rule == "number.plan.override")
        #expect(refusal.region == Region("DE"))
    }

    @Test func `a row's type counts, and the rule tells that it is the row's`() throws {
        let germany = try #require(Region("DE"))
        let refused = try #require(refusal(try screening(.valid(germany, .premiumRate))))
        #expect(refused.reason == .numberTypeNotAllowed)
        #expect(refused.rule == "numberTypes.premiumRate.override")
        #expect(passed(try screening(.valid(germany, .voip)))?.notes == ["numberTypes.voip.override"])
    }

    @Test func `a row's region counts`() throws {
        let norway = try #require(Region("NO"))
        #expect(refusal(try screening(.valid(norway, .mobile)))?.reason == .regionNotAllowed)
    }

    @Test func `a row for no region is refused where only named regions are allowed`() throws {
        #expect(refusal(try screening(.valid(.unknown, .mobile)))?.reason == .regionNotAllowed)
    }
}

/// A record that could not be parsed as a request.
private struct NotARequest: Error {}
