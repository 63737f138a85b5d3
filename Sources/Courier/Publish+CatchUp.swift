// SPDX-License-Identifier: Apache-2.0

import Verification

extension Publish {
    /// Lets the table be looked at once an interval: what a dead worker left becomes due by time alone.
    func tick(_ look: AsyncStream<Void>.Continuation) async {
        while !Task.isStopping {
            look.yield()
            await Task.pause(until: .now + settings.sweepInterval)
        }
        look.finish()
    }

    /// Publishes what is in the table and nobody holds, apart from what stages hand over: neither waits for the other.
    ///
    /// While much that was handed over waits for the broker, there is no look: its leases may be over, and it would be
    /// published twice.
    func catchUp(_ published: BatchQueue<OutboxRecord>, _ looks: AsyncStream<Void>) async {
        for await _ in looks {
            var isMore = true
            while isMore, !Task.isStopping, outbox.weight < settings.batchSize {
                isMore = await progress.during(.catchUp) {
                    let records = await retry.once(.catchUp) { try await ledger.sweepOutbox() } ?? []
                    let areTaken = await publishInTurn(records, until: .now + settings.lease / 2, published)
                    return areTaken && records.count * 2 > settings.batchSize
                }
            }
        }
    }

    /// Publishes each stream's records one after the other, up to the first one that the broker does not take; false
    /// when it does not take all of them in time.
    ///
    /// What is left is taken over once more when its lease is over: until then it is this worker's.
    private func publishInTurn(
        _ records: [OutboxRecord],
        until end: ContinuousClock.Instant,
        _ published: BatchQueue<OutboxRecord>
    ) async -> Bool {
        var broken: Set<UUIDValue> = []
        for round in records.rounds(by: \.stream) {
            progress.advance(.catchUp)
            let going = round.filter { !broken.contains($0.stream) }
            if going.isEmpty || Task.isStopping || end <= .now { return false }
            let taken = await publish(going)
            if taken.isEmpty { return false }
            published.append(taken)
            broken.formUnion(Set(going.map(\.stream)).subtracting(taken.map(\.stream)))
        }
        return broken.isEmpty
    }
}
