// SPDX-License-Identifier: Apache-2.0

package import Verification

// A receipt names its send by our id, which names the shard, or by the provider's, which any shard may have.
extension ShardedLedger {
    package func receive(
        _ receipts: [ReceivedReceipt],
        deadLetters: [OutboxRecord]
    ) async throws -> Recorded<[ReportedSend]> {
        let found = try await locate(receipts)
        var placed = [[ReceivedReceipt]](repeating: [], count: shards.count)
        for receipt in receipts { placed[home(of: receipt, found)].append(receipt) }
        let (receipts, deadLetters) = (placed, parts(deadLetters, \.stream))
        let busy = shards.indices.filter { !receipts[$0].isEmpty || !deadLetters[$0].isEmpty }
        let results = await on(busy) { shard, number in
            try await shard.receive(receipts[number], deadLetters: deadLetters[number])
        }
        return Recorded(results.joined().value, outbox: try outbox(results))
    }

    package func sweepReceipts() async throws -> Recorded<Int> {
        let moved = await moveStrays()
        do {
            let swept = try await all { try await $0.sweepReceipts() }.unlessAllFailed()
            return Recorded(swept.values.map(\.value.value).max() ?? 0, outbox: moved + swept.outbox())
        } catch {
            keep(moved)
            throw error
        }
    }

    /// Settles receipts that wait in one shard and whose send another one has by now.
    ///
    /// The other shard settles them first and the one where they wait forgets them then: after a failure in between
    /// they are settled again, which changes nothing.
    private func moveStrays() async -> [OutboxRecord] {
        let waiting = await all { try await $0.waitingStrays() }
        let strays = waiting.values.flatMap { shard, receipts in receipts.map { Stray(receipt: $0, shard: shard) } }
        guard !strays.isEmpty, let found = try? await locate(strays.map(\.receipt)) else { return [] }
        let movable = strays.filter { home(of: $0.receipt, found) != $0.shard && isFound($0.receipt, found) }
        var placed = [[Stray]](repeating: [], count: shards.count)
        for stray in movable { placed[home(of: stray.receipt, found)].append(stray) }
        let settled = await each(placed) { shard, part in
            let recorded = try await shard.receive(part.map(\.receipt), deadLetters: [])
            return Recorded(part, outbox: recorded.outbox)
        }
        var done = [[ReceivedReceipt]](repeating: [], count: shards.count)
        for stray in settled.joined().value { done[stray.shard].append(stray.receipt) }
        // What is not forgotten now is found, and settled to no effect, by the next sweep.
        _ = await each(done) { shard, receipts in try await shard.forget(receipts) }
        return settled.outbox()
    }

    /// Where the sends are that receipts name by the provider's id alone.
    private func locate(_ receipts: [ReceivedReceipt]) async throws -> [ProviderMessage: Int] {
        let ids = receipts.filter { $0.receipt.sendID == nil }.compactMap(\.receipt.providerMessageID)
        guard !ids.isEmpty else { return [:] }
        let results = await all { try await $0.knownMessages(ids) }
        try failing(results)
        var found: [ProviderMessage: Int] = [:]
        for (shard, known) in results.values.reversed() {
            for message in known { found[message] = shard }
        }
        return found
    }

    private func isFound(_ received: ReceivedReceipt, _ found: [ProviderMessage: Int]) -> Bool {
        received.receipt.message.map { found[$0] != nil } ?? false
    }

    /// The shard of a receipt's send, or the one where it waits for it.
    private func home(of received: ReceivedReceipt, _ found: [ProviderMessage: Int]) -> Int {
        if let sendID = received.receipt.sendID { return shard(of: sendID.uuid) }
        return received.receipt.message.flatMap { found[$0] } ?? shard(of: received.id)
    }
}

/// A receipt, and the shard where it waits.
private struct Stray: Sendable {
    let receipt: ReceivedReceipt
    let shard: Int
}
