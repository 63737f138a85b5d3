// SPDX-License-Identifier: Apache-2.0

import PhoneNumbers
import Testing
import Verification

@Suite struct PhoneNumberDirectoryTests {
    private let directory = PhoneNumberDirectory()

    private func facts(of text: String) throws -> NumberFacts {
        directory.facts(of: try #require(PhoneNumber(text)))
    }

    private func check(_ example: Example) throws {
        let facts = try facts(of: example.number)
        let region = try #require(Region(example.region))
        let expected = NumberFacts(region: region, candidates: [region], isValid: true, type: example.type)
        #expect(facts == expected, "\(example.number)")
    }

    @Test(arguments: Example.plain)
    func `an example number has its region and type`(example: Example) throws {
        try check(example)
    }

    @Test func `the examples span forty regions and the types a policy tells apart`() {
        #expect(Set(Example.plain.map(\.region)).count >= 40)
        let types = Set((Example.plain + Example.rare).map(\.type))
        #expect(types == Set(NumberType.allCases).subtracting([.unknown]))
    }

    @Test(arguments: Example.shared)
    func `a shared calling code is told apart by the whole number`(example: Example) throws {
        try check(example)
    }

    @Test(arguments: Example.changed)
    func `a range that was handed out since 2022 is known`(example: Example) throws {
        try check(example)
    }

    @Test(arguments: Example.rare)
    func `a rare type is named`(example: Example) throws {
        try check(example)
    }

    @Test(arguments: [
        ("+11111111111", 25), ("+71111111111", 2), ("+441111111111", 4), ("+447700900123", 4), ("+390000000000", 2),
    ])
    func `a number of no region's plan may belong to all that share its code`(text: String, count: Int) throws {
        let facts = try facts(of: text)
        #expect(!facts.isValid)
        #expect(facts.region == .unknown)
        #expect(facts.type == .unknown)
        #expect(facts.candidates.count == count)
        #expect(facts.candidates == facts.candidates.sorted())
        #expect(!facts.candidates.contains(.unknown))
    }

    @Test func `the candidates of a shared code are its regions by name`() throws {
        #expect(try facts(of: "+71111111111").candidates.map(\.code) == ["KZ", "RU"])
        #expect(try facts(of: "+441111111111").candidates.map(\.code) == ["GB", "GG", "IM", "JE"])
    }

    @Test(arguments: [("+33639980123", "FR"), ("+2290095123456", "BJ"), ("+4900000000", "DE")])
    func `an invalid number of a code of one region belongs to that region`(text: String, code: String) throws {
        let facts = try facts(of: text)
        let region = try #require(Region(code))
        #expect(facts == NumberFacts(region: region, candidates: [region], isValid: false, type: .unknown))
    }

    @Test(arguments: [
        "+1212555", "+121255501", "+1212555010000", "+4474001", "+44740012345678", "+336123456", "+3361234567890",
    ])
    func `too few or too many digits are invalid`(text: String) throws {
        let facts = try facts(of: text)
        #expect(!facts.isValid)
        #expect(facts.type == .unknown)
        #expect(!facts.candidates.isEmpty)
    }

    @Test(arguments: ["+447400123456", "+525512345678", "+12125550100", "+33612345678", "+5491123456789"])
    func `a number written without its trunk prefix is valid`(text: String) throws {
        #expect(try facts(of: text).isValid)
    }

    @Test(arguments: [
        "+4407400123456", "+5215512345678", "+5212221234567", "+112125550100", "+330612345678", "+54111512345678",
        "+788005553535", "+36061234567", "+490301234567", "+5501112345678",
    ])
    func `a second spelling of the same phone is invalid`(text: String) throws {
        #expect(try !facts(of: text).isValid)
    }

    @Test(arguments: ["+80012345678", "+870773111632", "+870201234567"])
    func `a code of no region has no candidates`(text: String) throws {
        let facts = try facts(of: text)
        #expect(facts.isValid)
        #expect(facts.region == .unknown)
        #expect(facts.candidates.isEmpty)
    }

    @Test(arguments: ["+999123456", "+2101234567", "+1000000", "+999999999999999"])
    func `a number outside every plan is unknown`(text: String) throws {
        let facts = try facts(of: text)
        #expect(!facts.isValid)
        #expect(facts.region == .unknown)
        #expect(facts.type == .unknown)
    }

    @Test func `Kosovo is a region`() throws {
        #expect(try facts(of: "+38344123456").region.code == "XK")
    }
}
