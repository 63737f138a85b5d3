// SPDX-License-Identifier: Apache-2.0

import Formats
import Logs
import Synchronization
import TestSupport
import Testing
import Verification

@testable import Courier

/// Tests the fleet's reader by rounds, with a clock that the test sets.
@Suite struct ConversionReadingTests {
    let ledger = MemoryBrakeLedger()
    let log = LogRecord()

    func reading(_ policy: Policy = .test()) -> ConversionReading {
        ConversionReading(ledger: ledger, policies: PolicySource(policy), logger: log.logger)
    }

    /// Enough approvals of the last day for a verdict.
    func wake(_ approved: Int = 700, of verifications: Int = 1000) {
        let group = ConversionCounts.Group(
            hour: (Timestamp.test - .seconds(7200)).hour,
            tenant: "default",
            region: "DE",
            provider: "main",
            isConfirmed: false
        )
        let within = [10, 50, 80, 95, 99, 100].map { approved * $0 / 100 }
        ledger.with {
            $0.hours = ConversionCounts([
                group: .init(verifications: verifications, approved: approved, sends: 1000, within: within)
            ])
        }
    }

    /// Rounds every two seconds for a time.
    func run(_ reading: inout ConversionReading, for seconds: Int) async throws {
        for _ in 0..<(seconds / 2) {
            ledger.advance(by: .seconds(2))
            try await reading.round()
        }
    }

    var blocks: [TenantBlock] { ledger.with { Array($0.blocks.values) } }

    @Test func `of two workers one reads, and the other takes over within ten seconds of its end`() async throws {
        var (first, second) = (reading(), reading())
        try await first.round()
        try await second.round()
        #expect(first.turn != nil && second.turn == nil)
        try await run(&first, for: 20)
        try await second.round()
        #expect(second.turn == nil)
        // The first one ends without a word.
        var seconds = 0
        while second.turn == nil, seconds < 20 {
            seconds += 2
            try await run(&second, for: 2)
        }
        #expect(seconds <= 8)
        #expect(log.lines(.brakeReader).count == 2)
        // It comes back as from a stopped clock, and writes nothing.
        try await first.round()
        #expect(first.turn == nil)
        try await first.round()
        #expect(first.turn == nil)
    }

    @Test func `a worker that stops lets another one take over at once`() async throws {
        var (first, second) = (reading(), reading())
        try await first.round()
        try await first.resign()
        try await second.round()
        #expect(second.turn != nil)
        // One that is not the reader takes nothing away.
        try await first.resign()
        try await second.round()
        #expect(second.turn != nil)
    }

    @Test func `a reader whose rounds fail leaves its turn to another one, but not in an outage`() async throws {
        var (first, second) = (reading(), reading())
        try await first.round()
        ledger.with { $0.isFailing = true }
        for _ in 0..<(2 * ConversionReading.patience) { try? await run(&first, for: 2) }
        #expect(first.turn != nil)
        ledger.with { ($0.isFailing, $0.refusesReads) = (false, true) }
        for _ in 0..<ConversionReading.patience { try? await run(&first, for: 2) }
        #expect(first.turn == nil)
        ledger.with { $0.refusesReads = false }
        try await run(&first, for: 2)
        try await run(&second, for: 2)
        #expect(first.turn == nil && second.turn != nil)
    }

    @Test func `the time up to which verifications are judged is stored with the lease`() async throws {
        var reading = reading()
        try await reading.round()
        #expect(ledger.with { $0.judgedTo } == nil)
        try await run(&reading, for: 4)
        let now = ledger.with { $0.now }
        #expect(ledger.with { $0.judgedTo } == now - .seconds(5))
        // Reads fail, the lease does not.
        ledger.with { $0.refusesReads = true }
        for _ in 0..<5 { try? await run(&reading, for: 2) }
        #expect(ledger.with { $0.judgedTo } == now - .seconds(3))
        #expect(try await ledger.brakeStatus().lag == .seconds(13))
    }

    @Test func `each verification is read at each age, once, in slices without a gap`() async throws {
        var reading = reading()
        try await reading.round()
        ledger.with { $0.reads = [] }
        try await run(&reading, for: 10)
        let reads = ledger.with { $0.reads }
        let now = ledger.with { $0.now }
        for age in [Duration.seconds(3)] + ApprovalCurve.ages {
            let slices = reads.filter { $0.to > now - age - .seconds(10) && $0.to <= now - age }
                .filter { $0.to - $0.from == .seconds(2) }.sorted { $0.to < $1.to }
            #expect(slices.first?.from == now - age - .seconds(10))
            #expect(zip(slices, slices.dropFirst()).allSatisfy { $0.to == $1.from })
            #expect(slices.last?.to == now - age)
        }
    }

    @Test func `too few approvals trip a scope, whose block is stored and logged once`() async throws {
        wake()
        var reading = reading()
        try await reading.round()
        ledger.add(20, at: ledger.with { $0.now })
        try await run(&reading, for: 130)
        #expect(blocks.map(\.block.state) == [.blocked])
        #expect(blocks.first?.isAsleep == false)
        let lines = log.lines(.brakeTripped)
        #expect(lines.count == 1)
        #expect(lines.first?.fields["scope"] == .text("prefix"))
        #expect(lines.first?.fields["brake.key"] == .text("00000000"))
        #expect(log.lines(.brakeAsleep).isEmpty)
        // Nobody is refused any more: half open after five minutes, ended after five more.
        try await run(&reading, for: 620)
        #expect(blocks.map(\.block.state) == [.ended])
        #expect(log.lines(.brakeHalfOpen).count == 1 && log.lines(.brakeEnded).count == 1)
    }

    @Test func `a row that was committed late is found at the next age`() async throws {
        wake()
        var reading = reading()
        try await reading.round()
        ledger.add(20, at: ledger.with { $0.now }, visibleAfter: .seconds(20))
        try await run(&reading, for: 24)
        #expect(reading.turn?.brakes.size == 0)
        try await run(&reading, for: 126)
        #expect(blocks.map(\.block.key.scope) == [.prefix])
    }

    @Test(arguments: [130, 440, 760])
    func `a reader that takes over leaves the blocks as they are`(seconds: Int) async throws {
        wake()
        var first = reading()
        try await first.round()
        ledger.add(20, at: ledger.with { $0.now })
        ledger.add(200, at: ledger.with { $0.now }, prefix: 8, approvedAfter: .seconds(10))
        try await run(&first, for: seconds)
        let before = ledger.with { $0.blocks }
        #expect(before.count == 1)
        let lines = log.lines.count
        var second = reading()
        ledger.advance(by: .seconds(7))
        try await second.round()
        #expect(second.turn != nil)
        #expect(ledger.with { $0.blocks } == before)
        for _ in 0..<12 { try await second.round() }
        #expect(ledger.with { $0.blocks } == before)
        #expect(second.turn?.brakes.size == first.turn?.brakes.size)
        // Only who reads is new.
        #expect(log.lines.count == lines + 1)
    }

    @Test func `a reader that takes over judges the newest at once, and reads the hour before in parts, once`()
        async throws
    {
        wake()
        let start = ledger.with { $0.now }
        // An attack a minute ago, a hundred people of before in each ten minutes, and one of more than an hour ago.
        ledger.add(40, at: start - .seconds(60))
        for part in 1...5 {
            ledger.add(100, at: start - .seconds(600 * part + 30), prefix: nil, approvedAfter: .seconds(20))
        }
        ledger.add(1, at: start - .seconds(3601), prefix: nil)
        var reading = reading()
        try await reading.round()
        #expect(blocks.map(\.block.state) == [.blocked])
        let first = ledger.with { $0.reads.count }
        #expect(first == 61 + ConversionReading.olderSlices)
        var rounds = 1
        while reading.turn?.hasOlder == true, rounds < 20 {
            try await reading.round()
            rounds += 1
        }
        #expect(rounds == 10)
        #expect(reading.turn?.brakes.size == 40 + 500 + 3 * 2)
        let slices = ledger.with { $0.reads }.filter { $0.to <= start - .seconds(600) }.sorted { $0.to < $1.to }
        #expect(slices.first?.from == start - .seconds(3600) && slices.last?.to == start - .seconds(600))
        #expect(zip(slices, slices.dropFirst()).allSatisfy { $0.to == $1.from })
        // Verifications that were read backwards leave the window like others.
        try await run(&reading, for: 3000)
        #expect(reading.turn?.brakes.size == 40 + 3 * 2)
    }

    @Test func `a reader reads no more of a busy hour than memory takes, but what nobody has counted`() async throws {
        wake()
        let start = ledger.with { $0.now }
        ledger.add(300, at: start - .seconds(900), prefix: nil)
        var reading = ConversionReading(
            ledger: ledger,
            policies: PolicySource(.test()),
            logger: log.logger,
            maximumSize: 100
        )
        ledger.with { $0.countedTo = start - .seconds(1800) }
        for _ in 0..<20 { try await reading.round() }
        #expect(reading.turn?.hasOlder == false && reading.turn?.brakes.size ?? 0 <= 100)
        #expect(ledger.with { $0.reads.map(\.from).min() } == start - .seconds(1800))
        try await run(&reading, for: 62)
        #expect(ledger.with { $0.hours.groups.values.reduce(0) { $0 + $1.verifications } } == 1300)
    }

    @Test func `a launch ends with its messages, whoever counts them`() async throws {
        wake()
        let start = ledger.with { $0.now }
        let turn = BrakeTurn(tenant: "default", key: BrakeKey(region: "DE"))
        ledger.with { $0.launches[turn] = BrakeLaunch(turn: turn, createdAt: start, maximum: 100) }
        var first = reading()
        try await first.round()
        ledger.add(30, at: start - .milliseconds(500), prefix: nil, approvedAfter: .seconds(20))
        ledger.add(60, at: start + .seconds(1), prefix: nil, approvedAfter: .seconds(20))
        try await run(&first, for: 70)
        #expect(ledger.with { $0.launches[turn]?.used } == 60)
        ledger.add(30, at: ledger.with { $0.now }, prefix: nil, approvedAfter: .seconds(20))
        try await run(&first, for: 640)
        #expect(ledger.with { $0.launches[turn]?.matured } == 60)
        // The first one ends without a word; the other one counts the rest, and nothing twice.
        var second = reading()
        ledger.advance(by: .seconds(7))
        try await run(&second, for: 70)
        #expect(ledger.with { $0.launches[turn]?.used } == 90)
        #expect(log.lines(.brakeLaunchOver).isEmpty)
        ledger.add(10, at: ledger.with { $0.now }, prefix: nil, approvedAfter: .seconds(20))
        try await run(&second, for: 6)
        #expect(ledger.with { $0.launches[turn]?.used } == 100)
        let lines = log.lines(.brakeLaunchOver)
        #expect(lines.count == 1 && lines.first?.fields["sends"] == .integer(100))
        ledger.add(10, at: ledger.with { $0.now }, prefix: nil, approvedAfter: .seconds(20))
        try await run(&second, for: 70)
        #expect(log.lines(.brakeLaunchOver).count == 1)
    }

    @Test func `a reader that ends while it reads the last hour leaves it to the next`() async throws {
        wake()
        ledger.add(20, at: .test - .seconds(700))
        var (first, second) = (reading(), reading())
        // The first one loses its lease in the middle of its first round.
        ledger.with { state in
            state.onRead = { [ledger] count in
                if count == 80 { ledger.with { $0.isFailing = true } }
            }
        }
        await #expect(throws: MemoryBrakeLedger.Failure.self) { try await first.round() }
        ledger.with { ($0.isFailing, $0.onRead) = (false, nil) }
        #expect(blocks.isEmpty)
        ledger.advance(by: .seconds(7))
        try await second.round()
        #expect(blocks.map(\.block.state) == [.blocked])
        try await first.round()
        #expect(first.turn == nil)
    }

    @Test func `matured verifications are counted once, whoever reads them`() async throws {
        let start = ledger.with { $0.now }
        var first = reading()
        try await first.round()
        for minute in 0..<5 {
            let approvedAfter = Duration.seconds(minute < 3 ? 20 : 50)
            ledger.add(10, at: start + .seconds(60 * minute), prefix: nil, approvedAfter: approvedAfter)
        }
        // Some are stored, some only counted by the reader that ends.
        try await run(&first, for: 750)
        var second = reading()
        ledger.advance(by: .seconds(7))
        try await run(&second, for: 300)
        let counts = ledger.with { $0.hours.groups.values.map { $0 } }
        #expect(counts.reduce(0) { $0 + $1.verifications } == 50)
        #expect(counts.reduce(0) { $0 + $1.approved } == 50)
        #expect(counts.reduce(0) { $0 + $1.within[1] } == 30)
        #expect(counts.reduce(0) { $0 + $1.within[2] } == 50)
    }

    @Test func `verifications that a block explains are not what is usual`() async throws {
        wake()
        var reading = reading()
        try await reading.round()
        ledger.add(20, at: ledger.with { $0.now })
        ledger.add(5, at: ledger.with { $0.now }, prefix: 8, approvedAfter: .seconds(20))
        let before = ledger.with { $0.hours.groups.values.reduce(0) { $0 + $1.verifications } }
        try await run(&reading, for: 700)
        let after = ledger.with { $0.hours.groups.values.reduce(0) { $0 + $1.verifications } }
        #expect(after - before == 5)
    }

    @Test func `a lifted block is lifted for the reader, too`() async throws {
        wake()
        var reading = reading()
        try await reading.round()
        ledger.add(20, at: ledger.with { $0.now })
        try await run(&reading, for: 130)
        let lifted = try #require(blocks.first)
        ledger.with { $0.blocks[lifted.turn] = nil }
        try await run(&reading, for: 60)
        #expect(blocks.isEmpty)
        #expect(log.lines(.brakeEnded).count == 1)
    }

    @Test func `a refused request keeps a scope half open`() async throws {
        wake()
        var reading = reading()
        try await reading.round()
        ledger.add(20, at: ledger.with { $0.now })
        try await run(&reading, for: 600)
        let open = try #require(blocks.first)
        #expect(open.block.state == .halfOpen)
        ledger.with { $0.refusals[open.turn] = $0.now }
        try await run(&reading, for: 200)
        #expect(blocks.map(\.block.state) == [.halfOpen])
        try await run(&reading, for: 110)
        #expect(blocks.map(\.block.state) == [.ended])
    }

    @Test func `blocks of a tenant that approves too little are asleep, which is said once an hour`() async throws {
        wake(150, of: 200)
        var reading = reading()
        try await reading.round()
        ledger.add(40, at: ledger.with { $0.now }, prefix: 7)
        ledger.add(40, at: ledger.with { $0.now }, prefix: 8)
        try await run(&reading, for: 300)
        #expect(blocks.count >= 2 && blocks.allSatisfy(\.isAsleep))
        #expect(log.lines(.brakeAsleep).count == 1)
        #expect(log.lines(.brakeAsleep).first?.fields["approvals"] == .integer(150))
        // It awakes at the next look at what is usual, and its half-open blocks with it.
        ledger.with { state in
            for turn in state.blocks.keys { state.refusals[turn] = .test + .seconds(900) }
        }
        wake()
        try await run(&reading, for: 400)
        let inForce = blocks.filter(\.block.isInForce)
        #expect(!inForce.isEmpty && inForce.allSatisfy { !$0.isAsleep })
    }

    @Test func `blocks that could not be stored are stored later, and are not taken for lifted`() async throws {
        wake()
        let watched = FailingStore(ledger)
        var reading = ConversionReading(ledger: watched, policies: PolicySource(.test()), logger: log.logger)
        try await reading.round()
        ledger.add(20, at: ledger.with { $0.now })
        watched.isFailing.withLock { $0 = true }
        var failures = 0
        for _ in 0..<70 where failures < 3 {
            ledger.advance(by: .seconds(2))
            do { try await reading.round() } catch is MemoryBrakeLedger.Failure { failures += 1 }
        }
        #expect(blocks.isEmpty && log.lines(.brakeTripped).count == 1)
        watched.isFailing.withLock { $0 = false }
        try await run(&reading, for: 2)
        #expect(blocks.map(\.block.state) == [.blocked])
        #expect(log.lines(.brakeEnded).isEmpty)
    }

    @Test func `a tenant whose brake is off is not judged`() async throws {
        wake()
        var reading = reading(.test { $0.brake.mode = .off })
        try await reading.round()
        ledger.add(20, at: ledger.with { $0.now })
        try await run(&reading, for: 130)
        #expect(blocks.isEmpty && reading.turn?.brakes.size == 0)
    }
}
