// SPDX-License-Identifier: Apache-2.0

import ServiceLifecycle
import Verification

/// What time and dead workers leave behind: expired leases, due retries, verifications that ran out, receipts that wait
/// for their send, and partitions.
struct Sweep: Service {
    let takeover: Takeover
    let ledger: any Ledger
    let outbox: BatchQueue<OutboxRecord>
    let settings: CourierSettings
    let retry: LedgerRetry
    let progress: Progress

    func run() async throws {
        await withDiscardingTaskGroup { group in
            for database in 0..<ledger.databases {
                group.addTask { await repeatedly(.takeover) { await takeover.take(from: database) } }
            }
            var maintenance = ContinuousClock.now
            await repeatedly(.sweep) {
                if ContinuousClock.now >= maintenance {
                    maintenance = .now + .seconds(10)
                    _ = await retry.once(.sweep) { try await ledger.maintain() }
                }
                return await sweep()
            }
        }
    }

    /// Does something over and over: at once while it leaves more, else after an interval.
    private func repeatedly(_ stage: Progress.Stage, _ body: () async -> Bool) async {
        while !Task.isStopping {
            if await progress.during(stage, body) { continue }
            await Task.pause(until: .now + settings.sweepInterval)
        }
    }

    /// Sweeps once; true when there was so much of something that there may be more.
    private func sweep() async -> Bool {
        var most = 0
        // While nobody takes events, what only makes more of them waits. A worker that stops is waited for by its group.
        if outbox.weight >= 20 * settings.batchSize { return false }
        if !Task.isStopping, let swept = await retry.once(.sweep, { try await ledger.sweepExpired() }) {
            most = max(most, swept.outbox.count)
            outbox.append(swept.outbox)
        }
        if !Task.isStopping, let swept = await retry.once(.sweep, { try await ledger.sweepReceipts() }) {
            most = max(most, swept.value, swept.outbox.count)
            outbox.append(swept.outbox)
        }
        return most * 2 > settings.batchSize
    }
}
