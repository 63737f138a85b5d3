// SPDX-License-Identifier: Apache-2.0

import Verification

extension Publish {
    /// Lets the table be looked at once an interval: what a dead worker left becomes due by time alone.
    func tick() async {
        while !Task.isStopping {
            look.send()
            endings.append([.time])
            await Task.pause(until: .now + context.settings.sweepInterval)
        }
        look.finish()
    }

    /// Publishes what is in the table and nobody holds, apart from what stages hand over: neither waits for the other.
    func catchUp() async {
        for await _ in look {
            var isMore = true
            while isMore, !Task.isStopping, hasRoom {
                isMore = await context.progress.during(.catchUp) {
                    let records =
                        await context.retry.run(.catchUp, .once) { try await context.ledger.sweepOutbox() } ?? []
                    await publish(records, .takenOver)
                    return records.count * 2 > context.settings.batchSize
                }
            }
        }
    }

    /// Whether there may be a look.
    ///
    /// While much that was handed over waits for its turn there is none: its leases may be over, and it would be
    /// published twice.
    private var hasRoom: Bool {
        context.outbox.weight < context.settings.batchSize && unacknowledged.hasRoom(for: .takenOver)
    }
}
