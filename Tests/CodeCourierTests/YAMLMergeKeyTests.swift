// SPDX-License-Identifier: Apache-2.0

import Providers
import SettingsReading
import TestTools
import Testing
import Verification

@testable import CodeCourier

@Suite("Merge keys in YAML")
struct YAMLMergeKeyTests {
    private let folder: ScratchFolder

    init() throws {
        folder = try ScratchFolder()
    }

    private func policy(_ second: String) -> Result<Policy, ConfigurationFaults> {
        let text = ExampleFiles.policy.replacing("  default:\n", with: "  default: &base\n")
        return PolicyFile.parse("\(text)\n  second: \(second)", file: "policy.yaml")
    }

    private func faults(_ second: String) -> [String] {
        guard case .failure(let faults) = policy(second) else { return [] }
        return faults.faults.map(\.description)
    }

    @Test(arguments: [
        "{ <<: *base, appName: Other }", "{ appName: Other, <<: *base }", "{ <<: [*base], appName: Other }",
        "{ <<: [{ appName: Other }, *base] }", "{ <<: { <<: *base, appName: Other } }",
    ])
    func `a mapping takes from another what it does not say itself`(second: String) throws {
        let tenants = try policy(second).get().tenants
        let (first, second) = (try #require(tenants["default"]), try #require(tenants["second"]))
        #expect(second.appName == "Other")
        #expect(first.appName == "Acme")
        #expect(second.routes == first.routes)
        #expect(second.regions == first.regions)
    }

    @Test func `a provider takes its kind and keys from another`() throws {
        let text = ExampleFiles.smallest.replacing(
            "{ name: main, kind: log }",
            with: "&a { name: a, kind: twilio, accountSid: AC1, authToken: t, from: f }, { <<: *a, name: b, from: g }"
        )
        let providers = try folder.load(text, environment: ExampleFiles.keys).get().providers
        #expect(providers.map(\.name) == ["a", "b"])
        guard let twilio = providers[1].configuration as? TwilioConfiguration else {
            Issue.record("no Twilio provider")
            return
        }
        #expect(twilio.sender == .from("g"))
        #expect(twilio.accountSid == "AC1")
    }

    @Test(arguments: ["5", "[1]", "[*base, a]", "text", "~"])
    func `a merge of something else than mappings is a fault that names it`(value: String) {
        let faults = self.faults("{ <<: \(value), appName: Other }")
        #expect(
            faults.contains { $0.contains(": tenants.second: has a merge key (<<) of something else") },
            "\(faults)"
        )
    }

    @Test func `two merge keys in one mapping are a fault that names them`() {
        let faults = self.faults("{ <<: { appName: x }, <<: *base }")
        #expect(faults.count == 1 && faults[0].contains(": <<: is given more than once in one mapping"), "\(faults)")
    }

    @Test func `what a merge brings in is checked where it goes`() {
        let unknown = faults("{ <<: [*base, { colour: red }] }")
        #expect(unknown.contains { $0.contains("tenants.second.colour: is not a known key") }, "\(unknown)")
    }

    /// Seven levels of eight aliases describe two million mappings in a few hundred bytes.
    @Test(.timeLimit(.minutes(1)))
    func `levels of merge keys that stand for millions of mappings are a fault with its line`() {
        let levels = (1...7).map { level in
            let below = Array(repeating: "*l\(level - 1)", count: 8).joined(separator: ", ")
            return "l\(level): &l\(level) { <<: [\(below)] }"
        }
        let lines = self.faults("{ l0: &l0 { appName: a }, \(levels.joined(separator: ", ")), <<: *l7 }")
        let isReported = lines.contains {
            $0.hasPrefix("policy.yaml:") && $0.contains("tenants.second: brings in more than 10000 keys")
        }
        #expect(isReported, "\(lines)")
    }
}
