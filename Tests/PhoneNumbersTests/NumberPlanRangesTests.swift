// SPDX-License-Identifier: Apache-2.0

import Testing
import Verification

@testable import PhoneNumbers

@Suite struct NumberPlanRangesTests {
    @Test func `a class stands for a prefix for each of its digits`() {
        let rows = NumberPlanTable.overrides(in: "BJ mobile 12,13 22901[2-469] 4930")
        #expect(rows.map(\.prefix) == ["229012", "229013", "229014", "229016", "229019", "4930"])
        #expect(rows.allSatisfy { $0.lengths == [12, 13] })
        #expect(rows.allSatisfy { $0.verdict == Region("BJ").map { .valid($0, .mobile) } })
    }

    @Test(arguments: ["", "BJ", "BJ mobile 13", "Benin mobile 13 22901", "BJ cellular 13 22901"])
    func `a line of another form has no rows`(line: String) {
        #expect(NumberPlanTable.overrides(in: line[...]).isEmpty)
    }

    @Test func `every line of the table has rows of the lengths that numbers have`() {
        for line in NumberPlanTable.ranges.split(separator: "\n") {
            let rows = NumberPlanTable.overrides(in: line)
            #expect(!rows.isEmpty, "\(line)")
            for row in rows {
                #expect(!row.lengths.isEmpty && row.lengths.allSatisfy(NumberPlanOverride.possibleLengths.contains))
                #expect(row.lengths.allSatisfy { $0 >= row.prefix.utf8.count }, "\(row.prefix)")
            }
        }
    }

    @Test func `a row's region is one of its calling code`() {
        for row in NumberPlanTable.overrides {
            let length = row.lengths.min() ?? 0
            let zeros = String(repeating: "0", count: max(0, length - row.prefix.utf8.count))
            let regions = PlanFacts(e164: "+\(row.prefix)\(zeros)").regionsOfCallingCode
            guard case .valid(let region, _) = row.verdict else {
                Issue.record("\(row.prefix) is switched off")
                continue
            }
            #expect(region == .unknown ? regions.isEmpty : regions.contains(region), "\(row.prefix)")
        }
    }
}
