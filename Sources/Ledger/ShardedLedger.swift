// SPDX-License-Identifier: Apache-2.0

import Synchronization
package import Verification

/// One ledger over several databases, none of which knows of the others.
///
/// The recipient's fingerprint chooses the database of a request; from then on its ids name it. Every method does its
/// part in each database that it concerns, at the same time and in one transaction each. So the whole is done when all
/// have committed, and when one fails the whole is repeated, in which those that had committed recognise their part and
/// change nothing. What they had to hand over is not lost with the first attempt: claims are handed back, and records
/// are given out by the next sweep.
///
/// Sweeps, and the marking of claims, go on with the databases that answer.
package final class ShardedLedger: Ledger {
    let shards: [PostgresLedger]
    private let keys: CodeKeys
    private let watch: ShardWatch

    /// Records whose transaction was committed while another shard's failed; they are leased to this worker.
    private let kept = Mutex<[OutboxRecord]>([])

    /// Beyond this, records wait in their outbox for the end of their lease.
    private static let keptLimit = 10_000

    /// - Parameters:
    ///   - shards: in the order of the configuration, which is their identity; at most `UUIDValue.maximumShards`.
    ///   - keys: whose fingerprint key places the recipients.
    ///   - onChange: told when a shard begins to fail and when it is back.
    package init(
        _ shards: [PostgresLedger],
        keys: CodeKeys,
        onChange: @escaping @Sendable (ShardChange) -> Void = { _ in }
    ) {
        precondition((1...UUIDValue.maximumShards).contains(shards.count), "the configuration bounds the shards")
        self.shards = shards
        self.keys = keys
        watch = ShardWatch(report: onChange)
    }

    // MARK: - Intake

    package func intake(
        _ candidates: [Candidate],
        decide: @escaping @Sendable ([Candidate], IntakeFacts) -> IntakeChanges
    ) async throws -> Recorded<IntakeResult> {
        var placed = [[Candidate]](repeating: [], count: shards.count)
        for candidate in candidates {
            let shard = Int(candidate.shardHash(keys: keys) % UInt64(shards.count))
            placed[shard].append(candidate.placed(on: UInt8(shard)))
        }
        let parts = placed
        let busy = parts.indices.filter { !parts[$0].isEmpty }
        // A batch of nothing is decided too, by the first.
        let results = await on(busy.isEmpty ? [0] : busy) { shard, number in
            try await shard.intake(parts[number], decide: decide)
        }
        let recorded = results.joined()
        if let failure = results.failure {
            keep(recorded.outbox)
            // Where this fails too, the claims are taken over when their lease is over.
            let claims = recorded.value.sends
            _ = await each(self.parts(claims) { $0.id.uuid }) { shard, part in try await shard.release(part) }
            throw failure
        }
        return recorded
    }

    // MARK: - Outbox

    package func sweepOutbox(of database: Int) async throws -> [OutboxRecord] {
        let kept = self.kept.withLock { kept in
            defer { kept.removeAll { Int($0.shard) == database } }
            return kept.filter { Int($0.shard) == database }
        }
        do {
            let swept = try await on([database]) { shard, number in
                try await shard.sweepOutbox(of: number)
            }.unlessAllFailed()
            return kept + swept.values.flatMap { shard, records in records.map { $0.held(by: shard) } }
        } catch {
            if kept.isEmpty { throw error }
            return kept
        }
    }

    @discardableResult
    package func published(_ records: [OutboxRecord]) async throws -> Bool {
        let results = await each(held(records)) { shard, part in try await shard.published(part) }
        try failing(results)
        return results.values.contains { $0.value }
    }

    package func giveBack(_ records: [OutboxRecord], after pause: Duration) async throws {
        try failing(await each(held(records)) { shard, part in try await shard.giveBack(part, after: pause) })
    }

    @discardableResult
    package func maintain() async throws -> Duration {
        let ages = try await all { try await $0.maintain() }.unlessAllFailed()
        return ages.values.map(\.value).max() ?? .zero
    }
}

// MARK: - Parts

extension ShardedLedger {
    /// Lets each shard do its part of the work, all at the same time; a shard without a part is left alone.
    func each<Element: Sendable, Value: Sendable>(
        _ parts: [[Element]],
        _ work: @escaping @Sendable (PostgresLedger, [Element]) async throws -> Value
    ) async -> ShardResults<Value> {
        await on(parts.indices.filter { !parts[$0].isEmpty }) { shard, number in try await work(shard, parts[number]) }
    }

    /// Lets every shard do the same work at the same time.
    func all<Value: Sendable>(
        _ work: @escaping @Sendable (PostgresLedger) async throws -> Value
    ) async -> ShardResults<Value> {
        await on(Array(shards.indices)) { shard, _ in try await work(shard) }
    }

    /// Lets some shards work at the same time, each told its number.
    func on<Value: Sendable>(
        _ numbers: [Int],
        _ work: @escaping @Sendable (PostgresLedger, Int) async throws -> Value
    ) async -> ShardResults<Value> {
        let outcomes = await withTaskGroup(of: (Int, Result<Value, any Error>).self) { group in
            for number in numbers { group.addTask { (number, await self.watched(number, work)) } }
            return await group.reduce(into: [:]) { $0[$1.0] = $1.1 }
        }
        var results = ShardResults<Value>()
        for number in numbers { if let outcome = outcomes[number] { results.append(outcome, of: number) } }
        return results
    }

    private func watched<Value: Sendable>(
        _ number: Int,
        _ work: @Sendable (PostgresLedger, Int) async throws -> Value
    ) async -> Result<Value, any Error> {
        do {
            let value = try await work(shards[number], number)
            watch.noteSuccess(of: number)
            return .success(value)
        } catch let error as UnrecordableBatch {
            return .failure(error)
        } catch {
            let failure = ShardFailure(shard: number, error: error)
            watch.note(failure)
            return .failure(failure)
        }
    }

    /// Elements by the shard that their id names.
    func parts<Element>(_ elements: [Element], _ id: (Element) -> UUIDValue) -> [[Element]] {
        var parts = [[Element]](repeating: [], count: shards.count)
        for element in elements { parts[shard(of: id(element))].append(element) }
        return parts
    }

    /// Records by the shard whose table holds them.
    private func held(_ records: [OutboxRecord]) -> [[OutboxRecord]] {
        var parts = [[OutboxRecord]](repeating: [], count: shards.count)
        for record in records { parts[Int(record.shard) % shards.count].append(record) }
        return parts
    }

    /// The shard that an id names; an id from elsewhere is as good in any one.
    func shard(of id: UUIDValue) -> Int { id.database(of: shards.count) }

    package var databases: Int { shards.count }

    package var isAnswering: Bool { watch.isCalm }

    /// Throws the failure of work that every shard had to do.
    func failing<Value: Sendable>(_ results: ShardResults<Value>) throws {
        if let failure = results.failure { throw failure }
    }

    /// The records of work that every shard had to do; after a failure they are kept for the next sweep.
    func outbox<Part: Sendable>(_ results: ShardResults<Recorded<Part>>) throws -> [OutboxRecord] {
        let outbox = results.outbox()
        if let failure = results.failure {
            keep(outbox)
            throw failure
        }
        return outbox
    }

    func keep(_ records: [OutboxRecord]) {
        kept.withLock { $0 += records.prefix(max(0, Self.keptLimit - $0.count)) }
    }
}
