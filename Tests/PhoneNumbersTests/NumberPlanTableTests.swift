// SPDX-License-Identifier: Apache-2.0

import PhoneNumbers
import Testing
import Verification

@Suite struct NumberPlanTableTests {
    private let directory = PhoneNumberDirectory()
    private let metadata = PhoneNumberDirectory(overrides: NumberPlan())

    /// The facts that a row of the built-in table gives its numbers.
    private func facts(by override: NumberPlanOverride) throws -> NumberFacts {
        guard case .valid(let region, let type) = override.verdict else {
            throw NumberPlanTableFault()
        }
        let candidates = region == .unknown ? [] : [region]
        return NumberFacts(region: region, candidates: candidates, isValid: true, type: type, table: .builtIn)
    }

    /// Numbers of a row: the first, the last and one between, of each length.
    private func numbers(of override: NumberPlanOverride) -> [PhoneNumber] {
        override.lengths.sorted().flatMap { length in
            ["000000000000000", "999999999999999", "384615384615384"].compactMap { digits in
                PhoneNumber("+\(override.prefix)\(digits.prefix(max(0, length - override.prefix.utf8.count)))")
            }
        }
    }

    @Test(arguments: Example.changed)
    func `a number that the metadata get wrong is right`(example: Example) throws {
        let number = try #require(PhoneNumber(example.number))
        let region = example.region == "XX" ? Region.unknown : try #require(Region(example.region))
        let expected = NumberFacts(
            region: region,
            candidates: region == .unknown ? [] : [region],
            isValid: true,
            type: example.type,
            table: .builtIn
        )
        #expect(directory.facts(of: number) == expected)
        let old = metadata.facts(of: number)
        #expect(!old.isValid || old.type != example.type || old.region != region)
    }

    @Test func `the other examples are as the metadata have them`() {
        let examples = (Example.plain + Example.shared + Example.rare).compactMap { PhoneNumber($0.number) }
        #expect(examples.count >= 200)
        for number in examples {
            #expect(directory.facts(of: number) == metadata.facts(of: number), "\(number.e164)")
        }
    }

    @Test func `every row is needed, for all numbers of its range that are tried`() throws {
        for override in NumberPlanTable.overrides {
            let expected = try facts(by: override)
            let numbers = numbers(of: override)
            #expect(numbers.count == 3 * override.lengths.count, "\(override.prefix)")
            for number in numbers {
                #expect(directory.facts(of: number) == expected, "\(number.e164)")
                let old = metadata.facts(of: number)
                let isWrong = !old.isValid || old.type != expected.type || old.region != expected.region
                #expect(isWrong, "\(number.e164) needs no row")
            }
        }
    }

    @Test func `no number is in two rows`() {
        let rows = NumberPlanTable.overrides.flatMap { row in row.lengths.map { "\($0) \(row.prefix)" } }
        let known = Set(rows)
        #expect(known.count == rows.count)
        for row in rows {
            var shorter = row.dropLast()
            while shorter.last != " " {
                #expect(!known.contains(String(shorter)), "\(row)")
                shorter = shorter.dropLast()
            }
        }
    }

    @Test func `the table spans the world`() {
        let overrides = NumberPlanTable.overrides
        #expect(overrides.count >= 2000)
        let regions = Set(
            overrides.compactMap { override in
                if case .valid(let region, _) = override.verdict { region } else { nil }
            }
        )
        #expect(regions.count >= 130)
    }

    @Test func `a directory takes other rows than the built-in ones`() throws {
        let number = try #require(PhoneNumber("+4915123456789"))
        let invalid = NumberPlanOverride(prefix: "49151", lengths: [13], verdict: .invalid)
        let facts = PhoneNumberDirectory(overrides: NumberPlan([invalid])).facts(of: number)
        let germany = try #require(Region("DE"))
        #expect(
            facts
                == NumberFacts(
                    region: germany,
                    candidates: [germany],
                    isValid: false,
                    type: .unknown,
                    table: .builtIn
                )
        )
    }
}

/// A built-in row that switches a range off.
private struct NumberPlanTableFault: Error {}
