// SPDX-License-Identifier: Apache-2.0

import Formats
import Logs
import Synchronization
import TestSupport
import Testing
import Verification

@testable import Courier

/// Statements that fail, and answers that are lost.
extension ConversionReadingTests {
    @Test func `nothing is judged before what is usual is known, which each round tries to learn`() async throws {
        wake()
        var first = reading()
        try await first.round()
        ledger.add(20, at: ledger.with { $0.now })
        try await run(&first, for: 130)
        let before = ledger.with { $0.blocks }
        #expect(before.count == 1 && before.values.allSatisfy { !$0.isAsleep })
        ledger.add(20, at: ledger.with { $0.now }, prefix: 9)
        ledger.advance(by: .seconds(7))
        ledger.with { $0.refusesHours = true }
        var second = reading()
        for _ in 0..<3 {
            ledger.advance(by: .seconds(2))
            await #expect(throws: MemoryBrakeLedger.Failure.self) { try await second.round() }
        }
        #expect(ledger.with { $0.blocks } == before && second.turn?.judgedTo == nil)
        ledger.with { $0.refusesHours = false }
        try await run(&second, for: 2)
        #expect(second.turn?.judgedTo != nil)
        try await run(&second, for: 60)
        #expect(blocks.count == 2 && blocks.allSatisfy { !$0.isAsleep })
        #expect(log.lines(.brakeAsleep).isEmpty)
    }

    @Test func `what is usual is learned anew when the policy judges other regions`() async throws {
        wake()
        let policies = PolicySource(.test())
        var reading = ConversionReading(ledger: ledger, policies: policies, logger: log.logger)
        try await reading.round()
        #expect(reading.turn?.brakes.approvalsOfDay(of: "default") == 700)
        let germany = try #require(Region("DE"))
        policies.replace(with: .test { $0.brake.regions = [germany: .off] })
        try await run(&reading, for: 2)
        #expect(reading.turn?.brakes.approvalsOfDay(of: "default") == 0)
    }

    @Test func `counts whose answer was lost are added once`() async throws {
        wake()
        let start = ledger.with { $0.now }
        let watched = FailingStore(ledger)
        var reading = ConversionReading(ledger: watched, policies: PolicySource(.test()), logger: log.logger)
        try await reading.round()
        for minute in 0..<10 {
            ledger.add(5, at: start + .seconds(60 * minute + 10), prefix: nil, approvedAfter: .seconds(20))
        }
        try await run(&reading, for: 690)
        watched.losesAnswers.withLock { $0 = true }
        var isLost = false
        for _ in 0..<40 where !isLost {
            ledger.advance(by: .seconds(2))
            do { try await reading.round() } catch is MemoryBrakeLedger.Failure { isLost = true }
        }
        #expect(isLost)
        watched.losesAnswers.withLock { $0 = false }
        try await run(&reading, for: 700)
        let counts = ledger.with { $0.hours.groups.values.map { $0 } }
        #expect(counts.reduce(0) { $0 + $1.verifications } == 1050)
        #expect(counts.reduce(0) { $0 + $1.approved } == 750)
    }

    @Test func `a line names a region, and shows the digits of other keys`() {
        func key(_ key: BrakeKey) -> String? {
            let fields = BrakeNotices.fields(of: key, "default", region: "US")
            guard case .text(let text)? = fields[.brakeKey] else { return nil }
            return text
        }
        #expect(key(BrakeKey(region: "US")) == "US")
        #expect(key(BrakeKey(.prefix, 0x0123_4567_89ab_cdef)) == "01234567")
    }
}
