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
    let settings: CourierSettings
    let inFlight: InFlight
    let retry: LedgerRetry
    let progress: Progress
    let logger: Logger

    func run() async throws {
        var maintenance = ContinuousClock.now
        while !Task.isShuttingDownGracefully, !Task.isCancelled {
            await progress.during(.sweep) {
                if ContinuousClock.now >= maintenance {
                    maintenance = .now + .seconds(3600)
                    _ = await retry.once(.sweep, { try await ledger.maintain() })
                }
                await sweep()
            }
            // What has become due by time alone gives no signal; it waits for at most an interval.
            try? await cancelWhenGracefulShutdown { try await Task.sleep(for: settings.sweepInterval) }
        }
    }

    private func sweep() async {
        if let swept = await retry.once(.sweep, { try await ledger.sweepSends(capacity: inFlight.free) }) {
            outbox.append(swept.outbox)
            if !swept.value.isEmpty {
                settings.observe(.sweepClaimed)
                logger.log(.sweepTakenOver, [.sends: LogValue(swept.value.count)])
                inFlight.add(swept.value.count)
                sends.append([Dispatch.Claims(sends: swept.value, claimedAt: .now)])
            }
        }
        if let swept = await retry.once(.sweep, { try await ledger.sweepExpired() }) {
            outbox.append(swept.outbox)
        }
        if let swept = await retry.once(.sweep, { try await ledger.sweepReceipts() }) {
            outbox.append(swept.outbox)
        }
        // Records that this worker has not published yet come first.
        guard outbox.count < settings.batchSize else { return }
        if let records = await retry.once(.sweep, { try await ledger.sweepOutbox() }) {
            outbox.append(records)
        }
    }
}
