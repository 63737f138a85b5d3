// SPDX-License-Identifier: Apache-2.0

import SettingsReading
import TestSupport
import Testing
import Verification

@testable import CodeCourier

@Suite("Messages of the policy")
struct MessagesReaderTests {
    /// The example policy with `messages` from line 25 on.
    private func read(_ messages: String, appName: String = "Acme") -> Result<Policy, ConfigurationFaults> {
        let text = ExampleFiles.policy.replacing("appName: Acme", with: "appName: \(appName)")
        return PolicyFile.parse("\(text)\n    messages: \(messages)", file: "policy.yaml")
    }

    private func faults(_ messages: String, appName: String = "Acme") -> [String] {
        guard case .failure(let faults) = read(messages, appName: appName) else { return [] }
        return faults.faults.map(\.description)
    }

    private let india = Region("IN") ?? .unknown
    private let china = Region("CN") ?? .unknown

    @Test func `what is stated is read`() throws {
        let messages = """

                  templates: { de: "{code} ist dein {appName}-Code. Gültig {minutes} Min.", no: "{code}" }
                  regions:
                    IN:
                      templates: { en: "{code} is the OTP for {appName}." }
                      registration: { entityId: "1101000000000000001", templateId: 1107000000000000001 }
                    CN: { signature: "【Acme】" }
                    FR: { autofill: false }
            """
        let policy = try #require(try read(messages).get().tenants["default"]).messages
        #expect(policy.templates.keys.sorted() == ["de", "nb"])
        let registered = try #require(policy.regions[india])
        #expect(registered.registration?.entityID == "1101000000000000001")
        #expect(registered.registration?.templateID == "1107000000000000001")
        #expect(!registered.hasAutofill)
        #expect(policy.regions[china] == RegionMessages(signature: "【Acme】", hasAutofill: false))
        #expect(policy.regions[Region("FR") ?? .unknown] == RegionMessages(hasAutofill: false))
        let summary = PolicySummary(policy: try read(messages).get(), now: .test).lines(file: "policy.yaml")
        let row = "own in de, nb; CN: signature, no autofill; FR: no autofill; IN: own in en, registered, no autofill"
        #expect(summary.contains("  messages              \(row)"))
    }

    static let wrong: [(String, String)] = [
        ("[]", ": must be a mapping"),
        ("{ template: {} }", ".template: is not a known key; did you mean templates?"),
        ("{ templates: { german-: \"{code}\" } }", ".templates: the name of a language must be a language tag"),
        ("{ templates: { de: [] } }", ".templates.de: must be a text such as"),
        ("{ templates: { de: \"Hallo\" } }", ".templates.de: must have {code} exactly once"),
        ("{ templates: { de: \"{code} {appName}.de\" } }", ".templates.de: looks like a link"),
        ("{ templates: { zh-TW: \"{code}\", zh-HK: \"{code}\" } }", ".templates.zh-HK: is a second text in zh-Hant"),
        ("{ templates: { de: \"Web24: {code}\" } }", ".templates.de: has Web24 before {code}, which phones could take"),
        ("{ templates: { de: \"{code} 2024\" } }", ".templates.de: has four digits or more, which could pass for the"),
        ("{ regions: { XX: {} } }", ".regions: the name of a region must be a region's two"),
        ("{ regions: { CN: { sign: a } } }", ".regions.CN.sign: is not a known key"),
        ("{ regions: { CN: { signature: \"a\\nb\" } } }", ".regions.CN.signature: must be 1 to 20 characters"),
        (
            "{ regions: { CN: { signature: 【Forum2000】 } } }",
            ".regions.CN.signature: must be 1 to 20 characters without control characters, links, @ or four digits, such"
        ),
        ("{ regions: { CN: { signature: 【aaaaaaaaaaaaaaaaaaa】 } } }", ".regions.CN.signature: must be 1 to 20"),
        (
            "{ regions: { IN: { registration: { entityId: \"1\", templateId: \"2\" } } } }",
            ".regions.IN.registration: stands for one text"
        ),
        (
            "{ regions: { IN: { templates: { en: \"{code}\" }, registration: { entityId: \"1\" } } } }",
            ".regions.IN.registration.templateId: is required"
        ),
        ("{ regions: { FR: { autofill: perhaps } } }", ".regions.FR.autofill: must be true or false"),
    ]

    @Test(arguments: wrong)
    func `a fault names its key and what to write`(messages: String, expected: String) {
        let faults = faults(messages)
        #expect(faults.count == 1)
        #expect(faults.first?.hasPrefix("policy.yaml:25: tenants.default.messages\(expected)") == true, "\(faults)")
    }

    @Test func `an own text that takes two segments is told with its size and its longest values`() {
        let text = "{code} " + String(repeating: "ж", count: 50)
        #expect(
            faults("{ regions: { FR: { templates: { ru: \"\(text)\" } } } }") == [
                "policy.yaml:25: tenants.default.messages.regions.FR.templates.ru: must be shorter: the text in ru for "
                    + "FR, variant domain, takes 88 units of UCS-2 where one segment holds 70, with 6 digits, 10 min, "
                    + "a name of 4 characters, a domain of 20"
            ]
        )
    }

    @Test(arguments: ["Booking.com", "1&1", "7-Eleven", "L’Oréal"])
    func `a brand's name may have points, digits and typographic marks`(name: String) throws {
        let policy = try read("{}", appName: "\"\(name)\"").get()
        let shown = try #require(policy.tenants["default"]?.appName)
        #expect(shown == name.replacing("’", with: "'"))
        let notes = PolicyNotes(policy: policy, now: .test).warnings.map(\.key)
        #expect(!notes.contains("tenants.default.appName"))
    }

    @Test func `a name that no built-in text can carry is one fault`() {
        let faults = faults("{}", appName: String(repeating: "ж", count: 40))
        #expect(faults.count == 1)
        #expect(
            faults.first?.hasPrefix("policy.yaml:5: tenants.default.appName: must be shorter: the text in ") == true,
            "\(faults)"
        )
        #expect(faults.first?.hasSuffix("; so do 67 other texts") == true, "\(faults)")
    }
}
