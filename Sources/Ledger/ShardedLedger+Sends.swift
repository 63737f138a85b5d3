// SPDX-License-Identifier: Apache-2.0

package import Verification

// Sends are where their ids say.
extension ShardedLedger {
    /// A shard that fails keeps no other's messages from leaving.
    ///
    /// It is asked twice, since a mark whose answer was lost would be settled as unknown without a message having left.
    package func markDispatching(_ claims: [ClaimedSend], tried: [SendID: [String]]) async throws -> Set<SendID> {
        let results = try await each(parts(claims) { $0.id.uuid }) { shard, part in
            do {
                return try await shard.markDispatching(part, tried: tried)
            } catch {
                return try await shard.markDispatching(part, tried: tried)
            }
        }.unlessAllFailed()
        return results.values.reduce(into: []) { $0.formUnion($1.value) }
    }

    package func record(_ results: [SendResult]) async throws -> Recorded<[SendResult]> {
        let recorded = await each(parts(results) { $0.send.id.uuid }) { shard, part in try await shard.record(part) }
        return Recorded(recorded.values.flatMap(\.value.value), outbox: try outbox(recorded))
    }

    package func release(_ claims: [ClaimedSend]) async throws {
        try failing(await each(parts(claims) { $0.id.uuid }) { shard, part in try await shard.release(part) })
    }

    package func sweepSends(of database: Int, capacity: Int) async throws -> Recorded<[ClaimedSend]> {
        try await on([database]) { shard, number in
            try await shard.sweepSends(of: number, capacity: capacity)
        }.unlessAllFailed().joined()
    }

    package func sweepExpired() async throws -> Recorded<Void> {
        Recorded((), outbox: try await all { try await $0.sweepExpired() }.unlessAllFailed().outbox())
    }
}
