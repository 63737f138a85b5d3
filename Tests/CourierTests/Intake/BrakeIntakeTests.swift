// SPDX-License-Identifier: Apache-2.0

import Formats
import Logs
import TestSupport
import TestTools
import Testing
import Verification

@testable import Courier

/// Tests the toll-fraud brake in a running pipeline.
@Suite(.timeLimit(.minutes(5))) struct BrakeIntakeTests {
    private static let numbers = (0..<3).map { "+491512345678\($0)" }

    /// A board with a block of the prefix that all the numbers have.
    private func board() throws -> (board: BrakeBoard, key: BrakeKey) {
        let number = try #require(PhoneNumber(Self.numbers[0]))
        let key = BrakeKey(.prefix, CodeKeys.test.brake.prefix(of: number))
        return (BrakeBoard(blocks: [("default", block(key), false)], overrides: []), key)
    }

    private func block(_ key: BrakeKey) -> BrakeBlock {
        BrakeBlock(
            key,
            region: "DE",
            state: .blocked,
            beganAt: .now,
            changesAt: .now + .seconds(3600),
            length: .seconds(3600),
            trips: 1,
            shortfall: Shortfall(expected: 20, observed: 0),
            refusedAt: .now
        )
    }

    @Test func `a block that only records sends, logs the rule and counts for its scope`() async throws {
        let (board, key) = try board()
        let (log, statistics) = (LogRecord(), Statistics())
        try await MemoryWorker.with(log: log, statistics: statistics) { worker in
            worker.brake.replace(with: board)
            worker.source.add(Self.numbers)
            try await worker.settle(events: 3)
            #expect(worker.sink.answers == ["sent", "sent", "sent"])
            let refusals = worker.brake.takeRefusals()
            #expect(refusals.map(\.key) == [key] && refusals.map(\.count) == [3])
            #expect(worker.pipeline.load.blockedScopes == 1 && worker.pipeline.load.halfOpenScopes == 0)
        }
        let lines = log.lines(.policyRecorded)
        #expect(lines.count == 3 && lines.allSatisfy { $0.fields["rule"] == .text("brake.prefix") })
        #expect(lines.allSatisfy { $0.fields["tenant"] == .text("default") && $0.fields["region"] == .text("DE") })
        let total = statistics.take()
        #expect(total.brakeRecorded == 3 && total.brakeRefused == 0)
    }

    @Test func `a block that is enforced sends nothing, and the policy may change that while it holds`() async throws {
        let (board, _) = try board()
        let statistics = Statistics()
        try await MemoryWorker.with(statistics: statistics) { worker in
            worker.brake.replace(with: board)
            let recording = worker.policies.current
            var tenant = try #require(recording.tenants["default"])
            tenant.brake.scopes = [.prefix: .enforce]
            worker.policies.replace(with: Policy(version: "2", tenants: ["default": tenant]))
            worker.source.add(Array(Self.numbers.prefix(2)))
            try await worker.settle(events: 2)
            #expect(worker.sink.answers == Array(repeating: "rejected toll_fraud_suspected", count: 2))
            worker.policies.replace(with: recording)
            worker.source.add(Array(Self.numbers.suffix(1)))
            try await worker.settle(events: 3)
            #expect(worker.sink.answers.last == "sent")
        }
        let total = statistics.take()
        #expect(total.brakeRefused == 2 && total.brakeRecorded == 1)
        #expect(total.refusals == ["toll_fraud_suspected": 2])
    }

    @Test func `an order that overrules a block is logged once, and once more for the next block`() async throws {
        let (_, key) = try self.board()
        func board(_ isBlocked: Bool) throws -> BrakeBoard {
            let order = BrakeOverride(
                tenant: "default",
                scope: .prefix,
                key: key.value,
                action: .allow,
                until: .now + .seconds(3600),
                reason: "testers"
            )
            return BrakeBoard(blocks: isBlocked ? [("default", block(key), false)] : [], overrides: [order])
        }
        let log = LogRecord()
        try await MemoryWorker.with(log: log) { worker in
            var tenant = try #require(worker.policies.current.tenants["default"])
            tenant.brake.mode = .enforce
            worker.policies.replace(with: Policy(version: "2", tenants: ["default": tenant]))
            worker.brake.replace(with: try board(true))
            worker.source.add(Array(Self.numbers.prefix(2)))
            try await worker.settle(events: 2)
            worker.brake.replace(with: try board(true))
            worker.brake.replace(with: try board(false))
            worker.brake.replace(with: try board(true))
            worker.source.add(Array(Self.numbers.suffix(1)))
            try await worker.settle(events: 3)
            #expect(worker.sink.answers == ["sent", "sent", "sent"])
        }
        let lines = log.lines(.brakeOverridden)
        #expect(lines.count == 2)
        #expect(lines.allSatisfy { $0.fields["order"] == .text("allow") && $0.fields["scope"] == .text("prefix") })
    }
}
