// SPDX-License-Identifier: Apache-2.0

import Formats
import Synchronization
import Verification

/// A ledger that cannot store blocks for a time, or whose answers are lost.
final class FailingStore: BrakeLedger {
    let ledger: MemoryBrakeLedger
    let isFailing = Mutex(false)

    /// True while counts are stored and the answer is lost.
    let losesAnswers = Mutex(false)

    init(_ ledger: MemoryBrakeLedger) {
        self.ledger = ledger
    }

    func store(_ blocks: [TenantBlock], by reader: UUIDValue) async throws -> Bool {
        if isFailing.withLock(\.self) { throw MemoryBrakeLedger.Failure() }
        return try await ledger.store(blocks, by: reader)
    }

    func brakeStatus() async throws -> BrakeStatus { try await ledger.brakeStatus() }
    func brakeBoard() async throws -> BrakeBoard { try await ledger.brakeBoard() }
    func add(_ refusals: [BrakeRefusal]) async throws { try await ledger.add(refusals) }
    func elect(_ reader: UUIDValue, lease: Duration, judgedTo: Timestamp?) async throws -> ReaderTurn? {
        try await ledger.elect(reader, lease: lease, judgedTo: judgedTo)
    }
    func resign(_ reader: UUIDValue) async throws { try await ledger.resign(reader) }
    func conversions(from: Timestamp, to: Timestamp) async throws -> [String: [ConversionSample]] {
        try await ledger.conversions(from: from, to: to)
    }
    func brakeBlocks() async throws -> [TenantBlock] { try await ledger.brakeBlocks() }
    func blocksInForce() async throws -> [BrakeTurn: Timestamp?] { try await ledger.blocksInForce() }
    func launches() async throws -> [BrakeLaunch] { try await ledger.launches() }
    func store(_ launches: [BrakeLaunch], by reader: UUIDValue) async throws -> Bool {
        try await ledger.store(launches, by: reader)
    }
    func conversionHours(since: Timestamp) async throws -> ConversionCounts {
        try await ledger.conversionHours(since: since)
    }
    func add(
        _ counts: ConversionCounts,
        from start: Timestamp?,
        upTo end: Timestamp,
        by reader: UUIDValue
    ) async throws -> Bool {
        let isAdded = try await ledger.add(counts, from: start, upTo: end, by: reader)
        if losesAnswers.withLock(\.self) { throw MemoryBrakeLedger.Failure() }
        return isAdded
    }
}
