// SPDX-License-Identifier: Apache-2.0

import SettingsReading
import Testing
import Verification

@testable import CodeCourier

@Suite("Number plan of the policy")
struct NumberPlanReaderTests {
    /// A policy with the first row in line 4 and the second in line 5.
    private static func policy(_ first: String = row, _ second: String = off) -> String {
        """
        # policy.yaml
        version: "1"
        numberPlan:
          - { \(first) }
          - { \(second) }
        tenants:
          default:
            appName: Acme
            regions: { allowByDefault: {} }
            routes: { default: [main] }
        """
    }

    private static let row =
        "prefix: \"+22901\", lengths: [12, 13], region: BJ, type: mobile, source: ARCEP, checkedOn: 2026-11-20"
    private static let off = "prefix: +88213, type: invalid, source: \"abuse, October\", checkedOn: \"2026-11-20\""

    private func faults(_ text: String) -> [String] {
        switch PolicyFile.parse(text, file: "policy.yaml") {
        case .success: []
        case .failure(let faults): faults.faults.map(\.description)
        }
    }

    @Test func `rows are read as they stand`() throws {
        let plan = try PolicyFile.parse(Self.policy(), file: "policy.yaml").get().numberPlan
        let benin = try #require(Region("BJ"))
        #expect(
            plan.overrides == [
                NumberPlanOverride(prefix: "22901", lengths: [12, 13], verdict: .valid(benin, .mobile)),
                NumberPlanOverride(prefix: "88213", lengths: Set(7...15), verdict: .invalid),
            ]
        )
    }

    @Test func `who says so, and who looked last, changes no rule`() throws {
        let again = Self.policy(
            Self.row.replacing("ARCEP", with: "\"ARCEP Bénin\"").replacing("2026-11-20", with: "2026-11-23")
        )
        let policies = try [Self.policy(), again].map { try PolicyFile.parse($0, file: "policy.yaml").get() }
        #expect(policies[0] == policies[1])
    }

    @Test func `a policy without rows changes no number`() throws {
        #expect(try PolicyFile.parse(ExampleFiles.policy, file: "policy.yaml").get().numberPlan == NumberPlan())
    }

    @Test(arguments: NumberType.allCases.filter { $0 != .unknown })
    func `every type of number can be stated`(type: NumberType) throws {
        let text = Self.policy(Self.row.replacing("type: mobile", with: "type: \(type.rawValue)"))
        let verdict = try PolicyFile.parse(text, file: "policy.yaml").get().numberPlan.overrides.first?.verdict
        #expect(verdict == Region("BJ").map { .valid($0, type) })
    }

    /// A part of the first row, its replacement, and the start of the only fault.
    static let changes: [(String, String, String)] = [
        ("\"+22901\"", "\"22901\"", "numberPlan[0].prefix: must be + and the first 1 to 15 digits"),
        ("\"+22901\"", "\"+02901\"", "numberPlan[0].prefix: must be + and the first"),
        ("\"+22901\"", "\"+229 01\"", "numberPlan[0].prefix: must be + and the first"),
        ("\"+22901\"", "\"+\"", "numberPlan[0].prefix: must be + and the first"),
        ("\"+22901\"", "\"+2290195123456789\"", "numberPlan[0].prefix: must be + and the first"),
        ("prefix: \"+22901\", ", "", "numberPlan[0].prefix: is required"),
        ("prefix:", "prefixes:", "numberPlan[0].prefixes: is not a known key; did you mean prefix?"),
        ("[12, 13]", "13", "numberPlan[0].lengths: must be a list of numbers of digits"),
        ("[12, 13]", "[]", "numberPlan[0].lengths: must have at least one"),
        ("[12, 13]", "[12, 12]", "numberPlan[0].lengths: names a number of digits more than once"),
        ("[12, 13]", "[6, 13]", "numberPlan[0].lengths[0]: must be a whole number from 7 to 15"),
        ("[12, 13]", "[12, 16]", "numberPlan[0].lengths[1]: must be a whole number from 7 to 15"),
        ("lengths: [12, 13], ", "", "numberPlan[0].lengths: is required"),
        ("region: BJ", "region: XX", "numberPlan[0].region: must be a region's two capital letters"),
        ("region: BJ, ", "", "numberPlan[0].region: is required"),
        ("type: mobile", "type: cellular", "numberPlan[0].type: must be one of mobile, fixedLine"),
        ("type: mobile", "type: unknown", "numberPlan[0].type: must be one of mobile, fixedLine"),
        ("type: mobile", "type: invalid", "numberPlan[0].region: must be left out"),
        ("type: mobile, ", "", "numberPlan[0].type: is required"),
        ("source: ARCEP", "source: \"\"", "numberPlan[0].source: must be a text of 1 to 200"),
        ("source: ARCEP, ", "", "numberPlan[0].source: is required"),
        ("2026-11-20", "2026-11-31", "numberPlan[0].checkedOn: must be a date"),
        ("2026-11-20", "yesterday", "numberPlan[0].checkedOn: must be a date"),
        (", checkedOn: 2026-11-20", "", "numberPlan[0].checkedOn: is required"),
    ]

    @Test(arguments: changes)
    func `a malformed row is one fault with its line`(piece: String, change: String, expected: String) {
        #expect(Self.row.contains(piece), "the row has no \(piece)")
        let faults = faults(Self.policy(Self.row.replacing(piece, with: change)))
        #expect(faults.count == 1, "\(faults)")
        #expect(faults.first?.hasPrefix("policy.yaml:4: \(expected)") == true, "\(faults)")
    }

    @Test func `a length shorter than the prefix is refused`() {
        let faults = faults(Self.policy(Self.row.replacing("+22901", with: "+22901951234")))
        #expect(faults.isEmpty)
        let short = self.faults(Self.policy(Self.row.replacing("+22901", with: "+2290195123456")))
        #expect(short.count == 1)
        #expect(short.first?.contains("lengths[0]: must be a whole number from 13 to 15") == true, "\(short)")
    }

    @Test func `a range that is stated twice is refused at its second line`() {
        let again = Self.row.replacing("[12, 13]", with: "[11, 12]")
        let faults = faults(Self.policy(Self.row, again))
        #expect(faults.count == 1)
        #expect(faults.first?.hasPrefix("policy.yaml:5: numberPlan[1]: repeats the prefix") == true, "\(faults)")
        let other = Self.row.replacing("[12, 13]", with: "[10, 11]")
        #expect(self.faults(Self.policy(Self.row, other)).isEmpty)
    }

    @Test(arguments: ["{}", "mobile", ""])
    func `a plan that is no list is refused`(value: String) {
        let faults = faults(ExampleFiles.policy + "\nnumberPlan: \(value)\n")
        #expect(faults.count == 1, "\(faults)")
        #expect(faults.first?.contains("numberPlan: must be a list of ranges") == true, "\(faults)")
    }
}
