// SPDX-License-Identifier: Apache-2.0

import Formats
import Synchronization
import TestSupport
import Verification

/// The brake's tables in memory, with a clock that the test sets.
final class MemoryBrakeLedger: BrakeLedger {
    struct Failure: Error {}

    /// A verification: when it began, when its row is visible, and when it is approved.
    struct Row: Sendable {
        let tenant: String
        let id: UUIDValue
        let visibleAt: Timestamp
        let prefix: Int64?
        let provider: String
        let approvedAfter: Duration?
    }

    struct State: Sendable {
        var now = Timestamp.test
        var reader: UUIDValue?
        var leaseUntil = Timestamp(microseconds: .min)
        var countedTo: Timestamp?
        var judgedTo: Timestamp?
        var rows: [Row] = []
        var blocks: [BrakeTurn: TenantBlock] = [:]
        var refusals: [BrakeTurn: Timestamp] = [:]
        var hours = ConversionCounts()
        var launches: [BrakeTurn: BrakeLaunch] = [:]
        var reads: [(from: Timestamp, to: Timestamp)] = []
        var version: Int64 = 0
        var boards = 0
        var added: [BrakeRefusal] = []
        var isFailing = false
        var refusesReads = false
        var refusesHours = false
        var failures = 0

        /// Called with each slice that is read.
        var onRead: (@Sendable (Int) -> Void)?
    }

    let state = Mutex(State())

    func with<Value: Sendable>(_ body: (inout State) -> Value) -> Value { state.withLock { body(&$0) } }

    func advance(by duration: Duration) {
        with { $0.now = $0.now + duration }
    }

    /// Adds verifications, a millisecond apart.
    func add(
        _ count: Int,
        of tenant: String = "default",
        at time: Timestamp,
        visibleAfter delay: Duration = .milliseconds(10),
        prefix: Int64? = 7,
        provider: String = "main",
        approvedAfter: Duration? = nil
    ) {
        var random = SystemRandomNumberGenerator()
        let rows = (0..<count).map { number in
            let began = time + .milliseconds(number)
            return Row(
                tenant: tenant,
                id: .version7(at: began, using: &random),
                visibleAt: began + delay,
                prefix: prefix,
                provider: provider,
                approvedAfter: approvedAfter
            )
        }
        with { $0.rows += rows }
    }

    private func answer<Value: Sendable>(_ body: (inout State) throws -> Value) throws -> Value {
        try state.withLock { state in
            if state.isFailing {
                state.failures += 1
                throw Failure()
            }
            return try body(&state)
        }
    }

    // MARK: BrakeLedger

    func brakeStatus() async throws -> BrakeStatus {
        try answer { state in
            BrakeStatus(version: state.version, lag: state.judgedTo.map { state.now - $0 })
        }
    }

    func brakeBoard() async throws -> BrakeBoard {
        try answer { state in
            state.boards += 1
            return BrakeBoard(
                blocks: state.blocks.values.map { ($0.tenant, $0.block, $0.isAsleep) },
                overrides: []
            )
        }
    }

    func add(_ refusals: [BrakeRefusal]) async throws {
        try answer { $0.added += refusals }
    }

    func elect(_ reader: UUIDValue, lease: Duration, judgedTo: Timestamp?) async throws -> ReaderTurn? {
        try answer { state in
            guard state.reader == reader || state.leaseUntil < state.now else { return nil }
            state.reader = reader
            state.leaseUntil = state.now + lease
            state.judgedTo = judgedTo ?? state.judgedTo
            return ReaderTurn(now: state.now, countedTo: state.countedTo)
        }
    }

    func resign(_ reader: UUIDValue) async throws {
        try answer { if $0.reader == reader { $0.leaseUntil = Timestamp(microseconds: .min) } }
    }

    func conversions(from: Timestamp, to: Timestamp) async throws -> [String: [ConversionSample]] {
        let (samples, count, onRead) = try answer { state in
            if state.refusesReads { throw Failure() }
            state.reads.append((from, to))
            let now = state.now
            var samples: [String: [ConversionSample]] = [:]
            for row in state.rows where row.visibleAt <= now {
                guard let began = row.id.version7Time, began >= from, began < to else { continue }
                samples[row.tenant, default: []].append(Self.sample(row, began, now))
            }
            return (samples, state.reads.count, state.onRead)
        }
        onRead?(count)
        return samples
    }

    private static func sample(_ row: Row, _ began: Timestamp, _ now: Timestamp) -> ConversionSample {
        let approved = row.approvedAfter.flatMap { began + $0 <= now ? $0 : nil }
        return ConversionSample(
            id: row.id,
            region: "DE",
            client: nil,
            prefix: row.prefix,
            range: nil,
            isConfirmed: false,
            outcome: approved == nil ? .open : .approved,
            provider: row.provider,
            approvedAfter: approved
        )
    }

    func brakeBlocks() async throws -> [TenantBlock] { try answer { Array($0.blocks.values) } }

    func blocksInForce() async throws -> [BrakeTurn: Timestamp?] {
        try answer { state in
            var found: [BrakeTurn: Timestamp?] = [:]
            for (turn, block) in state.blocks where block.block.isInForce {
                found.updateValue(state.refusals[turn], forKey: turn)
            }
            return found
        }
    }

    func store(_ blocks: [TenantBlock], by reader: UUIDValue) async throws -> Bool {
        try answer { state in
            guard state.reader == reader else { return false }
            for block in blocks { state.blocks[block.turn] = block }
            state.version += 1
            return true
        }
    }

    func launches() async throws -> [BrakeLaunch] { try answer { $0.launches.values.filter { !$0.isUsedUp } } }

    func store(_ launches: [BrakeLaunch], by reader: UUIDValue) async throws -> Bool {
        try answer { state in
            guard state.reader == reader else { return false }
            for launch in launches where state.launches[launch.turn]?.createdAt == launch.createdAt {
                state.launches[launch.turn] = launch
            }
            return true
        }
    }

    func conversionHours(since: Timestamp) async throws -> ConversionCounts {
        try answer { state in
            if state.refusesHours { throw Failure() }
            return state.hours
        }
    }

    func add(
        _ counts: ConversionCounts,
        from start: Timestamp?,
        upTo end: Timestamp,
        by reader: UUIDValue
    ) async throws -> Bool {
        try answer { state in
            let earliest = Timestamp(microseconds: .min)
            guard state.reader == reader, state.countedTo ?? earliest <= start ?? earliest else { return false }
            var groups = state.hours.groups
            for (group, count) in counts.groups {
                let known = groups[group, default: .init()]
                groups[group] = .init(
                    verifications: known.verifications + count.verifications,
                    approved: known.approved + count.approved,
                    sends: known.sends + count.sends,
                    within: zip(known.within, count.within).map(+)
                )
            }
            state.hours = ConversionCounts(groups)
            state.countedTo = end
            return true
        }
    }
}
