// SPDX-License-Identifier: Apache-2.0

import Verification

extension Publish {
    /// Lets the tables be looked at once an interval: what a dead worker left becomes due by time alone.
    func tick(_ tables: [Table]) async {
        while !Task.isStopping {
            for table in tables { table.look.yield() }
            await Task.pause(until: .now + settings.sweepInterval)
        }
        for table in tables { table.look.finish() }
    }

    /// Publishes what is in the table and nobody holds, apart from what stages hand over: neither waits for the other.
    func catchUp(_ table: Table) async {
        for await _ in table.looks {
            var isMore = true
            while isMore, !Task.isStopping, hasRoom {
                isMore = await progress.during(.catchUp) {
                    let records = await retry.once(.catchUp) { try await ledger.sweepOutbox(of: table.database) } ?? []
                    await publish(records, .takenOver)
                    return records.count * 2 > settings.batchSize
                }
            }
        }
    }

    /// Whether there may be a look.
    ///
    /// While much that was handed over waits for its turn there is none: its leases may be over, and it would be
    /// published twice.
    private var hasRoom: Bool { outbox.weight < settings.batchSize && unacknowledged.hasRoom(for: .takenOver) }
}
