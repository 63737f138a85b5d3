// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing
import Verification

/// Tests the second factors of one account.
@Suite struct DecisionFactorTests {
    private func request(_ id: String, _ number: String, _ purpose: String, _ more: String) -> InboundRecord {
        .request(id: id, phoneNumber: number, purpose: purpose, at: .test, more: more)
    }

    @Test(arguments: ["mfa_enrollment", "mfa_sign_in", "reauthentication"])
    func `a second factor needs its account`(purpose: String) {
        let screener = Screener(policy: .test(), keys: .test, numbers: FixedNumbers())
        let without = screener.candidate(for: request("r1", "+4915123456789", purpose, ""), now: .test)
        let with = screener.candidate(for: request("r1", "+4915123456789", purpose, #","subject":"ada""#), now: .test)
        guard case .invalid(let invalid, _) = without.content else {
            Issue.record("a request without a subject was taken")
            return
        }
        #expect(invalid.field == "subject")
        #expect(with.passed != nil)
    }

    @Test func `several factors of one account and one number's other purposes have slots of their own`() throws {
        let screener = Screener(policy: .test(), keys: .test, numbers: FixedNumbers())
        let requests = [
            request("r1", "+4915123456781", "mfa_sign_in", #","subject":"ada""#),
            request("r2", "+4915123456782", "mfa_sign_in", #","subject":"ada""#),
            request("r3", "+4915123456781", "mfa_enrollment", #","subject":"ada""#),
            request("r4", "+4915123456781", "sign_in", ""),
        ]
        let candidates = requests.map { screener.candidate(for: $0, now: .test) }
        let slots = try candidates.map { try #require($0.passed).slot }
        #expect(Set(slots).count == 4)

        let facts = IntakeFacts(
            now: .test,
            requests: [:],
            slots: Dictionary(uniqueKeysWithValues: zip(slots, candidates.map(\.verificationID))),
            verifications: [:]
        )
        let changes = IntakeRules.test(.test()).decide(candidates, facts: facts)
        // Three of the four requests are for one recipient, whose limit of 2 in 10 s counts all purposes.
        #expect(changes.sends.count == 3)
        #expect(Set(changes.sends.map(\.reference.verificationID)).count == 3)
        #expect(changes.insertedVerifications.map(\.subject).count { $0 == "ada" } == 3)
    }
}
