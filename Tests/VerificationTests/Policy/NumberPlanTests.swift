// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing
import Verification

@Suite struct NumberPlanTests {
    private func row(
        _ prefix: String,
        _ lengths: Set<Int>,
        _ verdict: NumberPlanOverride.Verdict = .invalid
    ) -> NumberPlanOverride {
        NumberPlanOverride(prefix: prefix, lengths: lengths, verdict: verdict)
    }

    private func prefix(of number: String, in rows: [NumberPlanOverride]) throws -> String? {
        NumberPlan(rows).override(of: try #require(PhoneNumber(number)))?.prefix
    }

    @Test func `the longest prefix decides, in any order of the rows`() throws {
        let rows = [row("49", [13]), row("49151", [13]), row("4915", [13])]
        for rows in [rows, rows.reversed()] {
            #expect(try prefix(of: "+4915123456789", in: rows) == "49151")
            #expect(try prefix(of: "+4915223456789", in: rows) == "4915")
            #expect(try prefix(of: "+4930123456789", in: rows) == "49")
            #expect(try prefix(of: "+5030123456789", in: rows) == nil)
        }
    }

    @Test func `a longer prefix of another length does not decide`() throws {
        let rows = [row("49", [13]), row("49151", [12])]
        #expect(try prefix(of: "+4915123456789", in: rows) == "49")
        #expect(try prefix(of: "+491512345678", in: rows) == "49151")
        #expect(try prefix(of: "+49151234567", in: rows) == nil)
    }

    @Test func `a prefix of one or two digits has all numbers that begin so`() throws {
        for number in ["+1000000", "+1999999", "+1230000"] {
            #expect(try prefix(of: number, in: [row("1", [7])]) == "1")
            #expect(try prefix(of: number, in: [row("2", [7])]) == nil)
        }
        #expect(try prefix(of: "+7700000", in: [row("77", [7])]) == "77")
        #expect(try prefix(of: "+7800000", in: [row("77", [7])]) == nil)
    }

    @Test func `a prefix may be the whole number`() throws {
        #expect(try prefix(of: "+999999999999999", in: [row("999999999999999", [15])]) == "999999999999999")
        #expect(try prefix(of: "+999999999999998", in: [row("999999999999999", [15])]) == nil)
    }

    @Test func `zeros in a prefix count`() throws {
        #expect(try prefix(of: "+1000000", in: [row("10", [7]), row("100", [7])]) == "100")
        #expect(try prefix(of: "+1010000", in: [row("10", [7]), row("100", [7])]) == "10")
    }

    @Test(arguments: ["", "49a", "+49", "٤٩", "4915123456789012", "99999999999999999999999"])
    func `a row whose prefix is no digits has no numbers`(text: String) throws {
        #expect(try prefix(of: "+4915123456789", in: [row(text, [13])]) == nil)
    }

    @Test func `of two rows with one prefix and length the later one decides`() throws {
        let number = try #require(PhoneNumber("+4915123456789"))
        let plan = NumberPlan([row("49", [13]), row("49", [13], .valid(.unknown, .voip))])
        #expect(plan.override(of: number)?.verdict == .valid(.unknown, .voip))
    }

    @Test func `an empty plan asks elsewhere`() throws {
        let number = try #require(PhoneNumber("+4915123456789"))
        let facts = FixedNumbers().facts(of: number)
        #expect(NumberPlan().facts(of: number) { facts } == facts)
    }

    @Test func `plans are equal when their rows are`() {
        #expect(NumberPlan([row("49", [13])]) == NumberPlan([row("49", [13])]))
        #expect(NumberPlan([row("49", [13])]) != NumberPlan([row("49", [12])]))
    }
}
