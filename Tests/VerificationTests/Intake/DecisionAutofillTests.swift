// SPDX-License-Identifier: Apache-2.0

import Formats
import TestSupport
import Testing
import Verification

/// Tests which sites and apps may autofill the code of a text.
@Suite struct DecisionAutofillTests {
    private static let allowed = AutofillPolicy(
        domains: ["example.com", "b.example"],
        androidAppHashes: ["FA+9qCX9VSu", "12345678901"]
    )

    private func intake(
        _ autofill: String,
        numbers: FixedNumbers = FixedNumbers(),
        _ change: (inout TenantPolicy) -> Void
    ) -> IntakeChanges {
        var tables = DecisionTables(numbers: numbers, change)
        return tables.intake(.request(id: "r1", at: tables.now, more: #","autofill":\#(autofill)"#))
    }

    typealias Refused = (autofill: String, allowed: AutofillPolicy, member: String)

    static let refusals: [Refused] = [
        (#"{"domain":"example.org"}"#, allowed, "domain"), (#"{"domain":"www.example.com"}"#, allowed, "domain"),
        (#"{"domain":"example.com.evil.org"}"#, allowed, "domain"),
        (#"{"domain":"notexample.com"}"#, allowed, "domain"),
        (#"{"androidAppHash":"AAAAAAAAAAA"}"#, allowed, "androidAppHash"),
        (#"{"androidAppHash":"fa+9qcx9vsu"}"#, allowed, "androidAppHash"),
        (#"{"domain":"example.com","androidAppHash":"AAAAAAAAAAA"}"#, allowed, "androidAppHash"),
        (#"{"domain":"example.org","androidAppHash":"FA+9qCX9VSu"}"#, allowed, "domain"),
        (#"{"domain":"example.com"}"#, AutofillPolicy(), "domain"),
        (#"{"androidAppHash":"FA+9qCX9VSu"}"#, AutofillPolicy(), "androidAppHash"),
        (#"{"androidAppHash":"FA+9qCX9VSu"}"#, AutofillPolicy(domains: ["example.com"]), "androidAppHash"),
        (#"{"domain":"example.com"}"#, AutofillPolicy(androidAppHashes: ["FA+9qCX9VSu"]), "domain"),
    ]

    @Test(arguments: refusals.indices) func `what the policy does not name is refused with its field`(
        index: Int
    ) throws {
        let (autofill, allowed, member) = Self.refusals[index]
        let changes = intake(autofill) { $0.autofill = allowed }
        let event = try #require(changes.events.first)
        #expect(changes.sends.isEmpty && changes.insertedVerifications.isEmpty)
        #expect(event.status == "rejected")
        #expect(event.reason == "unauthorized_domain")
        #expect(event.rule == "autofill.\(member)")
        #expect(event.text("field") == "autofill.\(member)")
        #expect(event.object("recipient")?.text("region") == "DE")
    }

    static let taken: [(String, String?, String?)] = [
        (#"{"domain":"example.com"}"#, "example.com", nil), (#"{"domain":"EXAMPLE.com"}"#, "example.com", nil),
        (#"{"domain":"b.example"}"#, "b.example", nil), (#"{"androidAppHash":"12345678901"}"#, nil, "12345678901"),
        (#"{"domain":"example.com","androidAppHash":"FA+9qCX9VSu"}"#, "example.com", nil), ("{}", nil, nil),
    ]

    @Test(arguments: taken)
    func `what the policy names stands in the text`(autofill: String, domain: String?, hash: String?) throws {
        let claim = try #require(intake(autofill) { $0.autofill = Self.allowed }.sends.first)
        #expect(claim.rendering.domain == domain)
        #expect(claim.rendering.androidAppHash == hash)
    }

    @Test func `a request without autofill needs none to be named`() {
        var tables = DecisionTables { $0.autofill = AutofillPolicy() }
        #expect(tables.intake(.request(id: "r1", at: tables.now)).sends.count == 1)
    }

    @Test func `a policy that names nothing at all takes any`() throws {
        let claim = try #require(intake(#"{"domain":"example.org"}"#) { $0.autofill = nil }.sends.first)
        #expect(claim.rendering.domain == "example.org")
    }

    @Test func `the rule stands behind the number's own and before app verification`() {
        func reason(numbers: FixedNumbers) -> String? {
            let changes = intake(#"{"domain":"example.org"}"#, numbers: numbers) { tenant in
                tenant.autofill = Self.allowed
                tenant.appVerification = .on(required: true, minimumScore: 0.5)
            }
            return changes.events.first?.reason
        }
        #expect(reason(numbers: FixedNumbers(region: "NO")) == "region_not_allowed")
        #expect(reason(numbers: FixedNumbers(type: .fixedLine)) == "number_type_not_allowed")
        #expect(reason(numbers: FixedNumbers()) == "unauthorized_domain")
    }
}
