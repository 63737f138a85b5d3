// SPDX-License-Identifier: Apache-2.0

import ServiceLifecycle
import Verification

extension Publish {
    /// Lets the table be looked at once an interval: what a dead worker left becomes due by time alone.
    func tick(_ look: AsyncStream<Void>.Continuation) async {
        while !isStopping {
            look.yield()
            try? await cancelWhenGracefulShutdown { try await Task.sleep(for: settings.sweepInterval) }
        }
        look.finish()
    }

    /// Publishes what is in the table and nobody holds, apart from what stages hand over: neither waits for the other.
    func catchUp(_ published: BatchQueue<OutboxRecord>, _ looks: AsyncStream<Void>) async {
        for await _ in looks {
            var isMore = true
            while isMore, !isStopping {
                isMore = await progress.during(.catchUp) {
                    let end = ContinuousClock.now + settings.lease / 2
                    let records = await retry.once(.catchUp) { try await ledger.sweepOutbox() } ?? []
                    await publishInTurn(records, until: end, published)
                    return records.count * 2 > settings.batchSize
                }
            }
        }
    }

    /// Publishes each stream's records one after the other, up to the first one that the broker does not take.
    ///
    /// What is left is taken over once more when its lease is over: until then it is this worker's.
    private func publishInTurn(
        _ records: [OutboxRecord],
        until end: ContinuousClock.Instant,
        _ published: BatchQueue<OutboxRecord>
    ) async {
        var broken: Set<UUIDValue> = []
        for round in records.rounds(by: \.stream) where .now < end {
            let going = round.filter { !broken.contains($0.stream) }
            let taken = going.isEmpty ? [] : await publish(going)
            if taken.isEmpty { return }
            published.append(taken)
            broken.formUnion(Set(going.map(\.stream)).subtracting(taken.map(\.stream)))
            progress.advance(.catchUp)
        }
    }

    private var isStopping: Bool { Task.isShuttingDownGracefully || Task.isCancelled }
}
