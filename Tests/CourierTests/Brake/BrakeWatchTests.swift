// SPDX-License-Identifier: Apache-2.0

import Formats
import Logs
import TestSupport
import TestTools
import Testing
import Verification

@testable import Courier

@Suite struct BrakeWatchTests {
    private let ledger = MemoryBrakeLedger()
    private let source = BrakeSource()
    private let log = LogRecord()

    private func watching(
        patience: Duration = .zero,
        isOutage: @escaping @Sendable () -> Bool = { false },
        _ body: () async throws -> Void
    ) async throws {
        let watch = BrakeWatch(
            ledger: ledger,
            source: source,
            logger: log.logger,
            every: .milliseconds(2),
            countsEvery: .milliseconds(2),
            isOutage: isOutage,
            patience: patience
        )
        let task = Task { await watch.run() }
        defer { task.cancel() }
        try await body()
        task.cancel()
        await task.value
    }

    private static let block = TenantBlock(
        tenant: "default",
        block: BrakeBlock(
            BrakeKey(.prefix, 7),
            region: "DE",
            state: .blocked,
            beganAt: .test,
            changesAt: .test + .seconds(300),
            length: .seconds(300),
            trips: 1,
            shortfall: Shortfall(expected: 10, observed: 0),
            refusedAt: .test
        ),
        isAsleep: false
    )

    @Test(.timeLimit(.minutes(1))) func `the board is read when it has changed, and only then`() async throws {
        try await watching {
            try await eventually("the first board is read") { ledger.with { $0.boards } == 1 }
            #expect(source.current["default"] == nil)
            ledger.with {
                $0.blocks[Self.block.turn] = Self.block
                $0.version += 1
            }
            try await eventually("the block is known") { source.current["default"] != nil }
            #expect(ledger.with { $0.boards } == 2)
        }
    }

    @Test(.timeLimit(.minutes(1))) func `the reader's lag is known, and grows in an outage`() async throws {
        #expect(source.readerLag == nil)
        ledger.with { $0.judgedTo = $0.now - .seconds(40) }
        try await watching {
            try await eventually("the lag is known") { source.readerLag != nil }
            ledger.with { $0.isFailing = true }
            let failures = ledger.with { $0.failures }
            try await eventually("the database is away") { ledger.with { $0.failures } > failures + 2 }
            let lag = try #require(source.readerLag)
            #expect(lag >= .seconds(40))
            #expect(try #require(source.readerLag) > lag)
        }
    }

    @Test(.timeLimit(.minutes(1))) func `an outage keeps the board and the counts, and is logged`() async throws {
        let refusal = BrakeRefusal(tenant: "default", key: BrakeKey(.prefix, 7), count: 3, at: .test)
        ledger.with { $0.blocks[Self.block.turn] = Self.block }
        try await watching {
            try await eventually("the block is known") { source.current["default"] != nil }
            ledger.with { $0.isFailing = true }
            source.note([refusal])
            try await eventually("the outage is logged") { !log.lines(.postgresFailing).isEmpty }
            #expect(source.current["default"] != nil)
            #expect(ledger.with { $0.added }.isEmpty)
            ledger.with { $0.isFailing = false }
            try await eventually("the count is written") { !ledger.with { $0.added }.isEmpty }
            try await eventually("the recovery is logged") { !log.lines(.postgresRecovered).isEmpty }
        }
        #expect(ledger.with { $0.added } == [refusal])
    }

    @Test(.timeLimit(.minutes(1)), arguments: [(true, Duration.zero), (false, .seconds(60))])
    func `an outage that is short, or that the worker has reported, is not logged again`(
        isOutage: Bool,
        patience: Duration
    ) async throws {
        let refusal = BrakeRefusal(tenant: "default", key: BrakeKey(.ip, 1), count: 1, at: .test)
        let isReported: @Sendable () -> Bool = { isOutage }
        try await watching(patience: patience, isOutage: isReported) {
            try await eventually("the first board is read") { ledger.with { $0.boards } == 1 }
            ledger.with { $0.isFailing = true }
            let failures = ledger.with { $0.failures }
            source.note([refusal])
            try await eventually("it has failed a few times") { ledger.with { $0.failures } > failures + 6 }
            ledger.with { $0.isFailing = false }
            try await eventually("the count is written") { !ledger.with { $0.added }.isEmpty }
        }
        #expect(log.lines.isEmpty)
    }

    @Test(.timeLimit(.minutes(1))) func `the last counts are written at the end`() async throws {
        try await watching {
            try await eventually("the first board is read") { ledger.with { $0.boards } == 1 }
        }
        let refusal = BrakeRefusal(tenant: "default", key: BrakeKey(.ip, 1), count: 1, at: .test)
        source.note([refusal])
        let watch = BrakeWatch(ledger: ledger, source: source, logger: log.logger)
        let task = Task { await watch.run() }
        try await eventually("it has begun") { ledger.with { $0.boards } == 2 }
        task.cancel()
        await task.value
        #expect(ledger.with { $0.added } == [refusal])
    }
}
