// SPDX-License-Identifier: Apache-2.0

import Formats
import Synchronization
import TestSupport
import Testing
import Verification

@testable import Courier

/// Reads messages by rounds, with a clock that the test sets.
@Suite(.timeLimit(.minutes(1))) struct FeedbackReadingTests {
    private let table = MemoryConfirmations()
    private let desk = FeedbackDesk(
        InForce(["main": MemoryFeedback("main")]),
        deadline: .seconds(10),
        statistics: Statistics(),
        logger: LogRecord().logger
    )

    /// The ids that would be reported now, in order.
    private var reported: [String] { desk.take("main").map(\.messageID).sorted() }

    private func run(
        _ reading: inout FeedbackReading,
        _ reader: UInt128 = 1,
        for seconds: Int,
        lease: Duration = .seconds(6)
    ) async throws {
        for _ in 0..<(seconds / 2) {
            table.advance(by: .seconds(2))
            try await reading.read(in: UUIDValue(reader), renewedAt: table.now, lease: lease)
        }
    }

    @Test func `each approval within ten minutes is reported once, soon after its next age`() async throws {
        var reading = FeedbackReading(ledger: table, desk: desk)
        try await run(&reading, for: 2)
        var expected: [String] = []
        for (number, delay) in [1, 5, 14, 29, 59, 100, 239, 400, 599].enumerated() {
            table.add("in-\(number)", approvedAfter: .seconds(delay))
            expected.append("in-\(number)")
        }
        table.add("never", approvedAfter: nil)
        table.add("too-late", approvedAfter: .seconds(700))
        table.add("other", provider: "backup", approvedAfter: .seconds(5))
        try await run(&reading, for: 1000)
        #expect(reported == expected.sorted())
    }

    @Test func `a new reader reports what is approved in its turn, and nothing of before`() async throws {
        var (first, second) = (
            FeedbackReading(ledger: table, desk: desk), FeedbackReading(ledger: table, desk: desk)
        )
        try await run(&first, for: 2)
        table.add("before", approvedAfter: .seconds(10))
        table.add("between", approvedAfter: .seconds(41))
        table.add("after", approvedAfter: .seconds(50))
        try await run(&first, for: 34)
        // The first one dies; its lease ends 6 s later.
        table.advance(by: .seconds(10))
        try await run(&second, 2, for: 700)
        #expect(reported == ["after", "before"])
    }

    @Test func `a reader that comes back from a stop reports nothing that its successor does`() async throws {
        var frozen = FeedbackReading(ledger: table, desk: desk)
        var second = frozen
        try await run(&frozen, for: 2)
        table.add("one", approvedAfter: .seconds(30))
        table.advance(by: .seconds(16))
        // It renews its lease, stands still, and reads when another reader has reported the message.
        let renewedAt = table.now
        table.advance(by: .seconds(8))
        try await run(&second, 2, for: 20)
        try await frozen.read(in: UUIDValue(1), renewedAt: renewedAt, lease: .seconds(6))
        #expect(reported == ["one"])
    }

    @Test func `a failed statement loses nothing, and repeats nothing`() async throws {
        var reading = FeedbackReading(ledger: table, desk: desk)
        try await run(&reading, for: 2)
        for number in 0..<20 { table.add("m\(number)", approvedAfter: .seconds(number * 3 + 1)) }
        for round in 0..<60 {
            table.isFailing = round % 3 == 1
            do {
                try await run(&reading, for: 2)
            } catch is MemoryConfirmations.Failure {}
        }
        table.isFailing = false
        try await run(&reading, for: 200)
        #expect(reported == (0..<20).map { "m\($0)" }.sorted())
    }

    @Test func `what is remembered is bounded by time`() async throws {
        var reading = FeedbackReading(ledger: table, desk: desk)
        for round in 0..<2000 {
            table.add("r\(round)", approvedAfter: .seconds(1))
            try await run(&reading, for: 2)
        }
        #expect(reading.remembered < 1000)
        #expect(reported.count >= 1990)
    }
}

/// Approvals in memory.
private final class MemoryConfirmations: FeedbackLedger {
    struct Failure: Error {}

    private struct State {
        var now = Timestamp.test
        var rows: [(send: SendID, at: Timestamp, provider: String, id: String, approvedAt: Timestamp?)] = []
        var isFailing = false
    }

    private let state = Mutex(State())

    var now: Timestamp { state.withLock(\.now) }
    var isFailing: Bool {
        get { state.withLock(\.isFailing) }
        set { state.withLock { $0.isFailing = newValue } }
    }

    func advance(by time: Duration) { state.withLock { $0.now = $0.now + time } }

    /// Adds a message that is decided now.
    func add(_ id: String, provider: String = "main", approvedAfter: Duration?) {
        var random = SystemRandomNumberGenerator()
        state.withLock { state in
            let send = SendID(.version7(at: state.now, using: &random))
            let now = state.now
            state.rows.append((send, now, provider, id, approvedAfter.map { now + $0 }))
        }
    }

    func confirmed(
        from: Timestamp,
        to: Timestamp,
        by providers: [String],
        approvedAfter: Timestamp,
        upTo: Timestamp
    ) async throws -> [ConfirmedMessage] {
        try state.withLock { state in
            if state.isFailing { throw Failure() }
            return state.rows.compactMap { row in
                guard row.at >= from, row.at < to, providers.contains(row.provider),
                    let end = row.approvedAt,
                    end <= state.now, end > approvedAfter, end <= upTo
                else { return nil }
                return ConfirmedMessage(
                    send: row.send,
                    provider: row.provider,
                    messageID: row.id,
                    approvedAt: end
                )
            }
        }
    }
}
