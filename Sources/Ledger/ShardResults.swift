// SPDX-License-Identifier: Apache-2.0

import Verification

/// What came of work that several shards did at the same time.
struct ShardResults<Value: Sendable>: Sendable {
    /// Of those that did it, in the order of the shards.
    private(set) var values: [(shard: Int, value: Value)] = []

    /// Why the others did not; a failing database comes before a batch that cannot be recorded.
    private(set) var failure: (any Error)?

    mutating func append(_ result: Result<Value, any Error>, of shard: Int) {
        switch result {
        case .success(let value): values.append((shard, value))
        case .failure(let error):
            if failure == nil || failure is UnrecordableBatch { failure = error }
        }
    }

    /// For work that one shard does without the others: a failure is one when nobody did it.
    func unlessAllFailed() throws -> Self {
        if values.isEmpty, let failure { throw failure }
        return self
    }
}

extension ShardResults {
    /// What the shards left to publish, each record with its shard.
    func outbox<Part: Sendable>() -> [OutboxRecord] where Value == Recorded<Part> {
        values.flatMap { shard, recorded in recorded.outbox.map { $0.held(by: shard) } }
    }

    /// What the shards decided, shard by shard.
    func joined() -> Recorded<IntakeResult> where Value == Recorded<IntakeResult> {
        let parts = values.map(\.value.value)
        let result = IntakeResult(sends: parts.flatMap(\.sends), waiting: parts.flatMap(\.waiting))
        return Recorded(result, outbox: outbox())
    }

    /// What the shards returned, shard by shard.
    func joined<Element: Sendable>() -> Recorded<[Element]> where Value == Recorded<[Element]> {
        Recorded(values.flatMap(\.value.value), outbox: outbox())
    }
}
