// SPDX-License-Identifier: Apache-2.0

import Logging
import Logs
import ServiceLifecycle
import Verification

/// What time and dead workers leave behind: expired leases, due retries, unpublished records, verifications that ran
/// out, receipts that wait for their send, and partitions.
struct Sweep: Service {
    let ledger: any Ledger
    let sends: BatchQueue<Dispatch.Claims>
    let outbox: BatchQueue<OutboxRecord>
    let desk: ProviderDesk
    let settings: CourierSettings
    let inFlight: InFlight
    let retry: LedgerRetry
    let progress: Progress
    let logger: Logger

    func run() async throws {
        var maintenance = ContinuousClock.now
        while !Task.isShuttingDownGracefully, !Task.isCancelled {
            let leavesMore = await progress.during(.sweep) {
                if ContinuousClock.now >= maintenance {
                    maintenance = .now + .seconds(10)
                    _ = await retry.once(.sweep, { try await ledger.maintain() })
                }
                return await sweep()
            }
            if leavesMore { continue }
            // What has become due by time alone gives no signal; it waits for at most an interval.
            try? await cancelWhenGracefulShutdown { try await Task.sleep(for: settings.sweepInterval) }
        }
    }

    /// Sweeps once; true when there was so much of something that there may be more.
    private func sweep() async -> Bool {
        var most = 0
        let claimedAt = ContinuousClock.now
        let room = inFlight.reserve(upTo: settings.batchSize * ledger.databases)
        let swept = await retry.once(.sweep) { try await ledger.sweepSends(capacity: room) }
        inFlight.claim(swept?.value.count ?? 0, of: room)
        if let swept {
            // What a provider does not take now is handed back, and would be claimed again and again.
            most = swept.outbox.count + (desk.hasPause ? 0 : swept.value.count)
            outbox.append(swept.outbox)
            if !swept.value.isEmpty {
                settings.observe(.sweepClaimed)
                logger.log(.sweepTakenOver, [.sends: LogValue(swept.value.count)])
                sends.append([Dispatch.Claims(sends: swept.value, claimedAt: claimedAt)])
            }
        }
        // While nobody takes events, what only makes more of them waits.
        guard outbox.weight < 20 * settings.batchSize else { return false }
        if let swept = await retry.once(.sweep, { try await ledger.sweepExpired() }) {
            most = max(most, swept.outbox.count)
            outbox.append(swept.outbox)
        }
        if let swept = await retry.once(.sweep, { try await ledger.sweepReceipts() }) {
            most = max(most, swept.value, swept.outbox.count)
            outbox.append(swept.outbox)
        }
        // Records that this worker has not published yet come first.
        let hasRoom = outbox.weight < settings.batchSize
        if hasRoom, let records = await retry.once(.sweep, { try await ledger.sweepOutbox() }) {
            most = max(most, records.count)
            outbox.append(records)
        }
        return most * 2 > settings.batchSize
    }
}
