// SPDX-License-Identifier: Apache-2.0

import Logging
import Verification

extension LedgerRetry {
    /// Records a batch of records in one transaction; nil when the worker stops before.
    ///
    /// What the database can never take is halved until the record at fault is alone, and `record` is told to make a
    /// dead letter of that one: it neither stops its partition nor takes others with it. What takes too long is halved,
    /// too, and what meets a lock of another transaction: `record` returns a record alone that does.
    func recordAll<Value: Sendable>(
        _ records: [InboundRecord],
        _ stage: Progress.Stage,
        _ record: @Sendable ([InboundRecord], DeadLetterReason?) async throws -> Recorded<Value>
    ) async -> [Recorded<Value>]? {
        let outcome = await run(stage, .untilStopped) { () async throws -> Recorded<Value>? in
            try await Self.whole(records.count, halvingLocked: true) { try await record(records, nil) }
        }
        guard let outcome else { return nil }
        if let recorded = outcome { return [recorded] }
        guard records.count > 1 else { return await setAside(records, stage, record) }
        let middle = records.count / 2
        guard let first = await recordAll(Array(records[..<middle]), stage, record),
            let second = await recordAll(Array(records[middle...]), stage, record)
        else { return nil }
        return first + second
    }

    /// The value of work on a batch; nil where the database can never take all of it, or more than one in the time of a
    /// statement or behind a lock: halves of it may do.
    static func whole<Value: Sendable>(
        _ count: Int,
        halvingLocked: Bool = false,
        _ work: @Sendable () async throws -> Value
    ) async throws -> Value? {
        do {
            return try await work()
        } catch {
            let isTooMuch = error.isBatchTimeout || halvingLocked && error.isLockConflict
            if error is UnrecordableBatch || isTooMuch && count > 1 { return nil }
            throw error
        }
    }

    private func setAside<Value: Sendable>(
        _ records: [InboundRecord],
        _ stage: Progress.Stage,
        _ record: @Sendable ([InboundRecord], DeadLetterReason?) async throws -> Recorded<Value>
    ) async -> [Recorded<Value>]? {
        for record in records { noteUnrecordable(record, stage) }
        let recorded = await run(stage, .untilStopped) { try await record(records, .unrecordable) }
        return recorded.map { [$0] }
    }
}
