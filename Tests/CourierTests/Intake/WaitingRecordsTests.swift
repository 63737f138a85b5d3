// SPDX-License-Identifier: Apache-2.0

import TestSupport
import Testing
import Verification

@testable import Courier

@Suite struct WaitingRecordsTests {
    private static let screener = Screener(policy: .test(), keys: .test, numbers: FixedNumbers())

    /// Records of people, each named by a letter.
    private static func candidates(_ people: String) -> [Candidate] {
        people.unicodeScalars.enumerated().map { offset, person in
            let number = "+49151\(10_000_000 + Int(person.value))"
            let record = InboundRecord.request(id: "r\(offset)", phoneNumber: number, offset: Int64(offset), at: .test)
            return screener.candidate(for: record, now: .test)
        }
    }

    private static func waiting(_ people: String) -> WaitingRecords {
        let waiting = WaitingRecords()
        waiting.add(candidates(people), at: SourcePosition(batch: nil))
        return waiting
    }

    private static func offsets(_ records: [WaitingRecord]) -> [Int64] { records.map(\.record.offset) }

    @Test func `what is still locked keeps its place before later requests of its person`() {
        let waiting = Self.waiting("abab")
        let tried = waiting.next(upTo: 2)
        #expect(Self.offsets(tried) == [0, 1])
        waiting.tried(tried, leaving: [tried[0].place])
        #expect(Self.offsets(waiting.all) == [0, 2, 3])
    }

    @Test func `each has its turn, and nobody before an earlier request of the same person`() {
        let waiting = Self.waiting("abca")
        var turns: [[Int64]] = []
        for _ in 0..<3 {
            let tried = waiting.next(upTo: 2)
            turns.append(Self.offsets(tried))
            waiting.tried(tried, leaving: Set(tried.map(\.place)))
        }
        #expect(turns == [[0, 1], [0, 2], [1, 2]])
        #expect(Self.offsets(waiting.next(upTo: 9)) == [0, 1, 2, 3])
    }
}
